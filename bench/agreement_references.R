# R's agreement coefficients for the data of tests/reference/agreement: Rscript agreement_references.R FOLDER
#
# panel.csv is complete, crowd.csv has gaps. Only psych and base R are asked: ICCs with intervals, Cronbach's alpha,
# kappas (estimates; psych 2.2.9's standard errors of weighted kappas are wrong and not stored), correlations, Kendall's W from
# the Friedman statistic (which corrects for ties), the unbalanced one-way analysis of variance.
suppressPackageStartupMessages({ library(psych); library(jsonlite) })
folder <- commandArgs(TRUE)[1]
wide <- function(name) {
  long <- read.csv(file.path(folder, paste0(name, ".csv")))
  as.matrix(tapply(long$rating, list(long$item, long$rater), mean))
}
over_pairs <- function(x, f) {
  found <- combn(ncol(x), 2, function(p) {
    both <- x[complete.cases(x[, p]), p]
    if (nrow(both) < 3) NA else f(both[, 1], both[, 2])
  })
  mean(found, na.rm = TRUE)
}
gamma <- function(a, b) {
  s <- sign(outer(a, a, "-")) * sign(outer(b, b, "-"))
  (sum(s > 0) - sum(s < 0)) / sum(s != 0)
}
kappas <- function(a, b) cohen.kappa(cbind(a, b), levels = 1:5)
pairwise <- function(x) list(
  pearson = over_pairs(x, cor),
  spearman = over_pairs(x, function(a, b) cor(a, b, method = "spearman")),
  kendall_tau_b = over_pairs(x, function(a, b) cor(a, b, method = "kendall")),
  goodman_kruskal_gamma = over_pairs(x, gamma),
  cohen_kappa = over_pairs(x, function(a, b) kappas(a, b)$kappa),
  weighted_kappa_quadratic = over_pairs(x, function(a, b) kappas(a, b)$weighted.kappa))

panel <- wide("panel")
icc <- ICC(panel, lmer = FALSE)$results
names <- c("icc_1", "icc_a1", "icc_c1", "icc_k", "icc_ak", "icc_ck")
iccs <- lapply(seq_along(names), function(i) list(
  estimate = icc$ICC[i], low = icc[i, "lower bound"], high = icc[i, "upper bound"]))
friedman <- friedman.test(t(panel))
complete <- c(
  pairwise(panel),
  list(cronbach_alpha = alpha(panel, check.keys = FALSE, warnings = FALSE)$total$raw_alpha,
       kendall_w = unname(friedman$statistic) / (ncol(panel) * (nrow(panel) - 1)),
       kendall_chi2 = unname(friedman$statistic), kendall_p = friedman$p.value,
       icc = setNames(iccs, names)))

crowd <- wide("crowd")
long <- read.csv(file.path(folder, "crowd.csv"))
square <- anova(lm(rating ~ item, long))[["Mean Sq"]]
size <- table(long$item)
k <- (sum(size) - sum(size^2) / sum(size)) / (length(size) - 1)
gaps <- c(pairwise(crowd), list(
  icc_1 = (square[1] - square[2]) / (square[1] + (k - 1) * square[2]), icc_k = 1 - square[2] / square[1]))

write_json(list(R = R.version.string, psych = as.character(packageVersion("psych")), panel = complete, crowd = gaps),
           file.path(folder, "answers.json"), auto_unbox = TRUE, digits = NA, pretty = TRUE)
