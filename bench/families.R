# How long R takes where it has a model of families.py: Rscript families.R CSV KIND [CSV KIND …].
#
# Writes a line of versions, then a line a fit: file, kind, processor seconds (the best of five, one of what takes
# long), log-likelihood, separated by tabs.
needed <- c("ordinal", "VGAM", "glmmTMB")
missing <- needed[!vapply(needed, requireNamespace, logical(1), quietly = TRUE)]
if (length(missing)) {
  cat("missing\t", paste(missing, collapse = " and "), "\n", sep = "")
  quit(status = 0)
}
suppressPackageStartupMessages({library(ordinal); library(VGAM); library(glmmTMB)})
version_of <- function(name) paste(name, packageVersion(name))
cat("versions\tR ", as.character(getRversion()), ", ", paste(vapply(needed, version_of, ""), collapse = ", "), "\n",
    sep = "")
flush(stdout())

expand <- function(ratings) {  # a row for each step that a rating passed or stopped at
  points <- as.integer(ratings$ordered)
  steps <- seq_len(nlevels(ratings$ordered) - 1)
  rows <- lapply(steps, function(k) {
    own <- ratings[points >= k, ]
    own$step <- factor(k, levels = steps)
    own$stop <- as.integer(points[points >= k] == k)
    own
  })
  do.call(rbind, rows)
}

# Each takes the ratings, with `ordered` and, for glmmTMB, the expanded rows, and returns fit and log-likelihood.
fits <- list(
  `clm, scale` = function(d, long) logLik(clm(ordered ~ system, scale = ~system, data = d, link = "probit")),
  `clm, nominal` = function(d, long) logLik(clm(ordered ~ 1, nominal = ~system, data = d, link = "probit")),
  `clmm2, scale` = function(d, long)
    logLik(clmm2(ordered ~ system, scale = ~system, random = rater, data = d, link = "probit", nAGQ = 10, Hess = TRUE)),
  `clmm2, nominal` = function(d, long)
    logLik(clmm2(ordered ~ 1, nominal = ~system, random = rater, data = d, link = "probit", Hess = TRUE)),
  `vglm, sratio` = function(d, long) logLik(vglm(ordered ~ system, sratio(parallel = TRUE), data = d)),
  `vglm, acat` = function(d, long) logLik(vglm(ordered ~ system, acat(parallel = TRUE), data = d)),
  `glmmTMB, steps` = function(d, long)
    -glmmTMB(stop ~ 0 + step + system + (system | rater) + (system | item), data = long, family = binomial)$fit$objective
)

quiet <- function(expression) suppressWarnings(suppressMessages(expression))
arguments <- matrix(commandArgs(TRUE), nrow = 2)
for (job in seq_len(ncol(arguments))) {
  kind <- arguments[2, job]
  ratings <- read.csv(arguments[1, job], stringsAsFactors = TRUE)
  ratings$ordered <- factor(ratings$rating, ordered = TRUE)
  long <- if (grepl("steps", kind)) expand(ratings) else NULL
  runs <- c()
  while (length(runs) < 5 && sum(runs) < 1) {
    taken <- system.time(found <- quiet(fits[[kind]](ratings, long)))
    runs <- c(runs, taken[["user.self"]] + taken[["sys.self"]])
  }
  cat(arguments[1, job], kind, format(min(runs), digits = 15), format(as.numeric(found), digits = 15), sep = "\t")
  cat("\n")
  flush(stdout())
}
