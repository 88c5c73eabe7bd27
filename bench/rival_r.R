# How long R takes: Rscript rival_r.R CSV MODEL [CSV MODEL …], MODEL one of clmm, lmer.
#
# Writes a line of versions, then a line a fit: file, model, seconds, log-likelihood, separated by tabs. clmm is fitted
# once, lmer with the coefficient table (Satterthwaite's df) ten times unless that takes long, and the best is told.
needed <- c("ordinal", "lmerTest")
missing <- needed[!vapply(needed, requireNamespace, logical(1), quietly = TRUE)]
if (length(missing)) {
  cat("missing\t", paste(missing, collapse = " and "), "\n", sep = "")
  quit(status = 0)
}
suppressPackageStartupMessages({library(ordinal); library(lmerTest)})
version_of <- function(name) paste(name, packageVersion(name))
cat("versions\tR ", as.character(getRversion()), ", ",
    paste(vapply(c("ordinal", "lme4", "lmerTest"), version_of, ""), collapse = ", "), "\n", sep = "")
flush(stdout())

seconds_of <- function(expression) system.time(expression)[["elapsed"]]
quiet <- function(expression) suppressWarnings(suppressMessages(expression))
tell <- function(file, model, seconds, fit) {
  cat(file, model, format(seconds, digits = 15), format(as.numeric(logLik(fit)), digits = 15), sep = "\t")
  cat("\n")
  flush(stdout())
}

arguments <- matrix(commandArgs(TRUE), nrow = 2)
for (job in seq_len(ncol(arguments))) {
  file <- arguments[1, job]
  model <- arguments[2, job]
  ratings <- read.csv(file, stringsAsFactors = TRUE)
  ratings$ordered <- factor(ratings$rating, ordered = TRUE)
  if (model == "clmm") {
    seconds <- seconds_of(fit <- quiet(clmm(ordered ~ system + (system | rater) + (system | item),
                                            data = ratings, link = "probit")))
  } else {
    runs <- c()
    while (length(runs) < 10 && sum(runs) < 10) {
      runs <- c(runs, seconds_of({
        fit <- quiet(lmer(rating ~ system + (system | rater) + (system | item), data = ratings, REML = FALSE))
        table <- quiet(coef(summary(fit)))
      }))
    }
    stopifnot("df" %in% colnames(table))
    seconds <- min(runs)
  }
  tell(file, model, seconds, fit)
}
