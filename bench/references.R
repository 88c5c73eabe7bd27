# R's answers for one data set of tests/reference: Rscript references.R FOLDER NAME
#
# Writes FOLDER/NAME.json: every fit with its formula as Panelist takes it, log-likelihood, coefficients, thresholds,
# deviations, conditional modes; tests of nested fits, contrasts, intervals. Numbers are written with all their digits.
#
# What is known to be wrong in ordinal 2022.11-16's clmm, and what is done about it:
#   - its path for one scalar random effect swaps cloglog and loglog, and takes log|H| one Newton step too early:
#     every Laplace fit here goes through useMatrix = TRUE;
#   - the general path cannot do quadrature: that (probit, logit only) keeps clmm's scalar path with a tight inner
#     tolerance, which makes the early log|H| harmless, and takes its standard errors from numDeriv;
#   - clm and clmm put the outer thresholds at -1e5 and 1e5. Beyond them the Cauchy distribution still holds 3e-6 on
#     either side, so their cauchit log-likelihoods are too low, by 1e-3 for 200 ratings (a saturated model of two
#     categories does not reach the other links' log-likelihood), and clmm's general path cannot do cauchit at all.
#     Cauchit is therefore maximised here, by `likelihood` and `laplace_scalar` in plain R; the latter agrees with
#     useMatrix = TRUE to 1e-7 on probit;
#   - nlminb stops early: every fit is started again from its optimum with tighter tolerances;
#   - too tight an inner tolerance spoils its finite-difference standard errors: both fits' are compared, and those
#     that differ by more than 0.1 % are not stored;
#   - it mixes up the names of factors with equally many levels: there are none such here, and factors are named
#     in the order of their sizes.
suppressPackageStartupMessages({
  library(ordinal); library(lme4); library(lmerTest); library(emmeans); library(jsonlite); library(numDeriv)
})
options(warn = 1)
arguments <- commandArgs(TRUE)
folder <- arguments[1]
name <- arguments[2]
ratings <- read.csv(file.path(folder, paste0(name, ".csv")), stringsAsFactors = TRUE)
if (name != "slider") ratings$ord <- factor(ratings$rating)
started <- Sys.time()
fits <- list()
extra <- list()

as_ordinal <- function(formula) as.formula(sub("^rating", "ord", formula))
named <- function(x) as.list(x)

table_of <- function(m) {  # a coefficient table, a row a name
  keys <- c(Estimate = "estimate", `Std. Error` = "se", df = "df", `t value` = "statistic", `z value` = "statistic",
            `Pr(>|t|)` = "p", `Pr(>|z|)` = "p")
  rows <- lapply(seq_len(nrow(m)), function(i) {
    kept <- colnames(m) %in% names(keys)
    setNames(as.list(m[i, kept]), keys[colnames(m)[kept]])
  })
  setNames(rows, rownames(m))
}
anova_of <- function(m) setNames(lapply(seq_len(nrow(m)), function(i)
  list(num_df = m[i, "NumDF"], den_df = m[i, "DenDF"], F = m[i, "F value"], p = m[i, "Pr(>F)"])), rownames(m))
modes_of <- function(values, variances) lapply(setNames(names(values), names(values)), function(g) list(
  levels = rownames(values[[g]]), columns = colnames(values[[g]]), values = as.matrix(unname(values[[g]])),
  sd = sqrt(as.matrix(unname(variances[[g]])))))
deviations_of <- function(blocks) unname(lapply(seq_along(blocks), function(i) {  # a term each, as in the formula
  covariance <- matrix(unlist(blocks[[i]]), nrow(blocks[[i]]))
  list(group = names(blocks)[i], terms = rownames(blocks[[i]]), sd = I(sqrt(diag(covariance))),
       correlation = if (nrow(covariance) > 1) suppressWarnings(cov2cor(covariance)))
}))

# ---- cumulative link models -----------------------------------------------------------------------------------------
add_clm <- function(id, formula, link = "probit", threshold = "flexible") {
  f <- clm(as_ordinal(formula), data = ratings, link = link, threshold = threshold, control = clm.control(gradTol = 1e-10))
  stopifnot(f$convergence$code == 0)
  if (link == "cauchit") return(add_cauchit_clm(id, formula, f))
  m <- coef(summary(f))
  record <- list(model = "clm", formula = formula, link = link, threshold = threshold, n = nobs(f),
                 loglik = as.numeric(logLik(f)), aic = AIC(f), bic = BIC(f))
  parameters <- rownames(m) %in% names(f$alpha)
  record$thresholds <- thresholds_of(f, vcov(f)[names(f$alpha), names(f$alpha), drop = FALSE])
  record$coefficients <- table_of(m[!parameters, , drop = FALSE])
  fits[[id]] <<- record
  invisible(f)
}

# The log-likelihood of a clm with flexible thresholds, the outer ones infinite.
likelihood <- function(formula, P) {
  X <- model.matrix(as.formula(formula), ratings)[, -1, drop = FALSE]
  y <- as.integer(ratings$ord)
  k <- nlevels(ratings$ord)
  function(par) {
    t <- c(-Inf, par[1:(k - 1)], Inf)
    eta <- drop(X %*% par[-(1:(k - 1))])
    if (is.unsorted(t)) Inf else -sum(log(P(t[y + 1] - eta) - P(t[y] - eta)))
  }
}
add_cauchit_clm <- function(id, formula, f) {
  objective <- likelihood(formula, pcauchy)
  best <- nlminb(coef(f), objective, control = list(rel.tol = 1e-14, iter.max = 1000, eval.max = 4000))
  se <- sqrt(diag(solve(hessian(objective, best$par))))
  a <- seq_along(f$alpha)
  fits[[id]] <<- list(model = "clm", formula = formula, link = "cauchit", threshold = "flexible", n = nobs(f),
    loglik = -best$objective, by = "our own likelihood in R, the outer thresholds infinite",
    default_loglik = as.numeric(logLik(f)),
    thresholds = setNames(Map(function(e, s) list(estimate = e, se = s), unname(best$par[a]), unname(se[a])), names(f$alpha)),
    coefficients = wald(best$par[-a], se[-a]))
}

thresholds_of <- function(f, v) {  # the thresholds themselves, whatever structure they were estimated in
  J <- f$tJac
  theta <- drop(J %*% f$alpha)
  se <- sqrt(diag(J %*% v %*% t(J)))
  labels <- paste(head(f$y.levels, -1), tail(f$y.levels, -1), sep = "|")
  setNames(Map(function(e, s) list(estimate = e, se = s), theta, se), labels)
}

add_clmm <- function(id, formula, r_formula = formula, link = "probit", threshold = "flexible") {
  first <- clmm(as_ordinal(r_formula), data = ratings, link = link, threshold = threshold, useMatrix = TRUE)
  fixed <- length(first$coefficients)
  par <- first$optRes$par
  f <- suppressWarnings(clmm(as_ordinal(r_formula), data = ratings, link = link, threshold = threshold,
    start = list(par[1:fixed], par[-(1:fixed)]),
    control = clmm.control(useMatrix = TRUE, gradTol = 1e-6, rel.tol = 1e-14, iter.max = 1000, eval.max = 4000)))
  if (logLik(f) < logLik(first)) f <- first
  record <- list(model = "clmm", formula = formula, link = link, threshold = threshold, quadrature = 1, n = nobs(f),
                 loglik = as.numeric(logLik(f)), aic = AIC(f), bic = BIC(f),
                 restart_gain = as.numeric(logLik(f)) - as.numeric(logLik(first)), max_gradient = max(abs(f$gradient)),
                 r_formula = if (r_formula != formula) r_formula)
  v <- try(vcov(f), silent = TRUE)
  w <- try(vcov(first), silent = TRUE)
  sound <- is.matrix(v) && is.matrix(w) && !anyNA(v) && !anyNA(w)
  if (sound) {
    record$se_spread <- max(abs(sqrt(diag(v))[1:fixed] / sqrt(diag(w))[1:fixed] - 1))
    sound <- record$se_spread < 1e-3
  }
  if (!sound) {
    record$distrust <- I("se")
    v <- matrix(NA_real_, fixed, fixed)
  }
  v <- v[1:fixed, 1:fixed, drop = FALSE]
  a <- seq_along(f$alpha)
  record$thresholds <- thresholds_of(f, v[a, a, drop = FALSE])
  record$coefficients <- if (length(f$beta)) wald(f$beta, sqrt(diag(v))[-a])
  blocks <- VarCorr(f)
  record$random <- deviations_of(blocks)
  if (!anyDuplicated(names(blocks))) record$modes <- modes_of(ranef(f), condVar(f))
  record$fitted <- head(as.numeric(fitted(f)), 20)  # of the category observed, at the conditional modes
  fits[[id]] <<- record
  invisible(f)
}
wald <- function(beta, se) setNames(lapply(seq_along(beta), function(i) list(
  estimate = unname(beta[i]), se = unname(se[i]), statistic = unname(beta[i] / se[i]),
  p = unname(2 * pnorm(-abs(beta[i] / se[i]))))), names(beta))

add_quadrature <- function(id, formula, link, points = 10) {
  f <- clmm(as_ordinal(formula), data = ratings, link = link, nAGQ = points)
  group <- names(f$ST)
  # clmm's own objective, with modes found exactly, maximised again and differentiated by Richardson's method
  rho <- suppressWarnings(clmm(as_ordinal(formula), data = ratings, link = link, nAGQ = points, doFit = FALSE,
                               control = clmm.control(gradTol = 1e-9)))
  objective <- function(par) suppressWarnings(ordinal:::getNAGQ.ssr(rho, par))
  best <- nlminb(f$optRes$par, objective, control = list(rel.tol = 1e-14, iter.max = 1000, eval.max = 4000))
  add_scalar(id, formula, link, points, group, best, objective, f, "clmm's scalar path, modes found to 1e-9")
}

# The Laplace log-likelihood for one scalar random effect: modes of one number each, by Newton's method in plain R.
laplace_scalar <- function(formula, link) {
  fixed <- as.formula(sub("\\+ *\\(1 *\\| *([a-z]+)\\)", "", formula))
  group <- ratings[[sub(".*\\(1 *\\| *([a-z]+)\\).*", "\\1", formula)]]
  X <- model.matrix(fixed, ratings)[, -1, drop = FALSE]
  y <- as.integer(ratings$ord)
  k <- nlevels(ratings$ord)
  P <- list(cauchit = pcauchy)[[link]]
  function(par) {
    t <- c(-Inf, par[1:(k - 1)], Inf)
    if (is.unsorted(t)) return(Inf)
    eta <- drop(X %*% par[k - 1 + seq_len(ncol(X))])
    tau <- exp(par[length(par)])
    total <- 0
    for (g in levels(group)) {
      i <- group == g
      h <- function(u) 0.5 * u^2 - sum(log(P(t[y[i] + 1] - eta[i] - tau * u) - P(t[y[i]] - eta[i] - tau * u)))
      u <- nlminb(0, h, control = list(rel.tol = 1e-15))$par
      for (step in 1:3) u <- u - grad(h, u) / hessian(h, u)[1]
      total <- total + h(u) + 0.5 * log(hessian(h, u)[1])
    }
    total
  }
}
add_laplace_scalar <- function(id, formula, link) {
  f <- clmm(as_ordinal(formula), data = ratings, link = link)
  objective <- laplace_scalar(formula, link)
  best <- nlminb(f$optRes$par, objective, control = list(rel.tol = 1e-13, iter.max = 200))
  add_scalar(id, formula, link, 1, names(f$ST), best, objective, f, "our own Laplace approximation in R, one mode at a time")
}
add_scalar <- function(id, formula, link, points, group, best, objective, f, by) {
  se <- sqrt(diag(solve(hessian(objective, best$par))))
  a <- seq_along(f$alpha)
  b <- length(a) + seq_along(f$beta)
  labels <- paste(head(f$y.levels, -1), tail(f$y.levels, -1), sep = "|")
  fits[[id]] <<- list(model = "clmm", formula = formula, link = link, threshold = "flexible", quadrature = points,
    n = nobs(f), loglik = -best$objective, by = by, default_loglik = as.numeric(logLik(f)),
    thresholds = setNames(Map(function(e, s) list(estimate = e, se = s), best$par[a], se[a]), labels),
    coefficients = wald(setNames(best$par[b], names(f$beta)), se[b]),
    random = list(list(group = group, terms = I("(Intercept)"), sd = I(exp(tail(best$par, 1))))))
}

# ---- linear models --------------------------------------------------------------------------------------------------
tight <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-11, ftol_abs = 1e-12, maxeval = 1e5))
other <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))

add_lmer <- function(id, formula, method = "REML", contrasts = NULL, r_formula = formula, kr = method == "REML") {
  fit_with <- function(control) suppressMessages(lmerTest::lmer(as.formula(r_formula), data = ratings,
    REML = method == "REML", contrasts = contrasts, control = control))
  f <- fit_with(tight)
  g <- fit_with(other)
  if (as.numeric(logLik(g)) > as.numeric(logLik(f)) + 1e-9) { h <- f; f <- g; g <- h }
  record <- list(model = "lmm", formula = formula, method = method, n = nobs(f), loglik = as.numeric(logLik(f)),
                 aic = AIC(f), bic = BIC(f), sigma = sigma(f), singular = isSingular(f),
                 messages = as.list(unlist(f@optinfo$conv$lme4$messages)), r_formula = if (r_formula != formula) r_formula)
  m <- coef(summary(f))
  record$df_spread <- max(abs(m[, "df"] / coef(summary(g))[, "df"] - 1))
  if (record$df_spread > 1e-3) record$distrust <- I("df")
  record$coefficients <- table_of(m)
  if (length(attr(terms(f), "term.labels"))) {
    record$anova <- anova_of(anova(f))
    if (kr) {
      record$kenward_roger <- table_of(coef(summary(f, ddf = "Kenward-Roger")))
      record$anova_kenward_roger <- anova_of(anova(f, ddf = "Kenward-Roger"))
    }
  }
  record$random <- deviations_of(lapply(VarCorr(f), function(b) b[, , drop = FALSE]))
  names_of_terms <- names(VarCorr(f))
  for (i in seq_along(record$random)) record$random[[i]]$group <- sub("\\.[0-9]+$", "", names_of_terms[i])
  values <- ranef(f, condVar = TRUE)
  variances <- lapply(values, function(r) {
    v <- attr(r, "postVar")
    if (is.list(v)) do.call(cbind, lapply(v, function(b) apply(b, 3, diag)))
    else if (dim(v)[1] == 1) matrix(v[1, 1, ]) else t(apply(v, 3, diag))
  })
  record$modes <- modes_of(lapply(values, function(r) { attr(r, "postVar") <- NULL; r }), variances)
  record$fitted <- head(as.numeric(fitted(f)), 20)  # the first rows suffice
  record$population <- head(unname(predict(f, re.form = NA)), 20)
  fits[[id]] <<- record
  invisible(f)
}
add_lm <- function(id, formula) {
  f <- lm(as.formula(formula), data = ratings)
  m <- cbind(coef(summary(f)), df = df.residual(f))
  a <- anova(f)
  rows <- head(rownames(a), -1)
  fits[[id]] <<- list(model = "lm", formula = formula, n = nobs(f), loglik = as.numeric(logLik(f)), aic = AIC(f),
    bic = BIC(f), sigma = sigma(f), coefficients = table_of(m), fitted = head(unname(fitted(f)), 20),
    anova = if (length(rows) == 1) setNames(list(list(num_df = a[1, "Df"], den_df = df.residual(f),
      F = a[1, "F value"], p = a[1, "Pr(>F)"])), rows))
  invisible(f)
}

# ---- around the fits ------------------------------------------------------------------------------------------------
add_test <- function(id, small, large, a, b) {
  chisq <- 2 * (as.numeric(logLik(b)) - as.numeric(logLik(a)))
  df <- attr(logLik(b), "df") - attr(logLik(a), "df")
  extra$likelihood_ratio[[id]] <<- list(small = small, large = large, chisq = chisq, df = df,
                                        p = pchisq(chisq, df, lower.tail = FALSE))
}
frame_of <- function(x) { x <- as.data.frame(x); x[] <- lapply(x, function(c) if (is.factor(c)) as.character(c) else c); x }
add_contrasts <- function(id, fit, f, ...) {
  means <- emmeans(f, "system", ...)
  adjustments <- c(none = "none", tukey = "tukey", holm = "holm", bonferroni = "bonferroni", bh = "fdr")
  extra$contrasts[[id]] <<- list(fit = fit, means = frame_of(summary(means, infer = c(TRUE, FALSE))),
    pairs = lapply(adjustments, function(a) frame_of(summary(pairs(means, adjust = a)))),
    tukey_intervals = frame_of(confint(pairs(means, adjust = "tukey"))))
}
add_unseen <- function(fit, f, taus) {  # probit: the marginal probabilities have a closed form
  X <- model.matrix(~ system, data.frame(system = factor(levels(ratings$system))))[, -1, drop = FALSE]
  cumulate <- function(s) t(apply(cbind(0, pnorm(outer(-drop(X %*% f$beta), drop(f$tJac %*% f$alpha), "+") / s), 1), 1, diff))
  extra$probabilities[[fit]] <<- list(fit = fit, systems = levels(ratings$system), categories = f$y.levels,
    typical = cumulate(1), unseen = cumulate(sqrt(1 + sum(taus^2))))
}

crossed <- "rating ~ system + (1 | item) + (1 | rater)"
maximal <- "rating ~ system + (system | item) + (system | rater)"

DATA <- list(
  paper = function() {
    for (link in c("probit", "logit", "cloglog", "loglog", "cauchit")) add_clm(paste0("clm_", link), "rating ~ system", link)
    for (threshold in c("symmetric", "equidistant"))
      for (link in c("probit", "logit")) add_clm(paste("clm", link, threshold, sep = "_"), "rating ~ system", link, threshold)
    f <- add_clmm("clmm_probit", crossed)
    add_unseen("clmm_probit", f, unlist(f$ST))
    for (link in c("logit", "cloglog", "loglog")) add_clmm(paste0("clmm_", link), crossed, link = link)
    for (threshold in c("symmetric", "equidistant"))
      add_clmm(paste0("clmm_probit_", threshold), crossed, threshold = threshold)
    for (link in c("probit", "logit", "cloglog", "loglog"))
      add_clmm(paste0("clmm_rater_", link), "rating ~ system + (1 | rater)", link = link)
    add_laplace_scalar("clmm_rater_cauchit", "rating ~ system + (1 | rater)", "cauchit")
    for (link in c("probit", "logit")) add_quadrature(paste0("clmm_rater_", link, "_agq10"), "rating ~ system + (1 | rater)", link)
    add_test("clmm_system", "clmm_none", "clmm_probit", add_clmm("clmm_none", "rating ~ 1 + (1 | item) + (1 | rater)"), f)
    add_test("clmm_slopes", "clmm_probit", "clmm_maximal_probit", f, add_clmm("clmm_maximal_probit", maximal))
    add_lm("lm", "rating ~ system")
    add_lmer("lmer", crossed)
    g <- add_lmer("lmer_ml", crossed, "ML")
    add_test("lmer_system", "lmer_none_ml", "lmer_ml", add_lmer("lmer_none_ml", "rating ~ 1 + (1 | item) + (1 | rater)", "ML"), g)
    add_lmer("lmer_maximal", maximal)
    add_lmer("lmer_maximal_ml", maximal, "ML")
  },
  three = function() {
    f <- add_clm("clm_probit", "rating ~ system")
    interval <- confint(f, type = "profile", level = 0.95)
    extra$profile$clm_probit <<- list(fit = "clm_probit", names = rownames(interval), low = I(interval[, 1]), high = I(interval[, 2]))
    newdata <- data.frame(system = levels(ratings$system))
    extra$probabilities$clm_probit <<- list(fit = "clm_probit", systems = newdata$system, categories = f$y.levels,
      typical = unname(predict(f, newdata, type = "prob")$fit))
    f <- add_clmm("clmm_probit", crossed)
    add_contrasts("clmm_probit", "clmm_probit", f)
    add_clmm("clmm_logit", crossed, link = "logit")
    add_clmm("clmm_item_slopes_probit", "rating ~ system + (system | item) + (1 | rater)")
    f <- add_lmer("lmer", crossed)
    add_contrasts("lmer_satterthwaite", "lmer", f, lmer.df = "satterthwaite")
    add_contrasts("lmer_kenward_roger", "lmer", f, lmer.df = "kenward-roger")
    add_lmer("lmer_sum", "rating ~ C(system, Sum) + (1 | item) + (1 | rater)", contrasts = list(system = "contr.sum"), r_formula = crossed)
    add_lmer("lmer_item_slopes", "rating ~ system + (system | item) + (1 | rater)")
  },
  binary = function() {
    for (link in c("probit", "logit", "cloglog", "loglog")) {
      add_clm(paste0("clm_", link), "rating ~ system", link)
      add_clmm(paste0("clmm_", link), crossed, link = link)
    }
    add_clm("clm_cauchit", "rating ~ system", "cauchit")
    add_clmm("clmm_rater_logit", "rating ~ system + (1 | rater)", link = "logit")
    for (link in c("probit", "logit")) add_quadrature(paste0("clmm_rater_", link, "_agq10"), "rating ~ system + (1 | rater)", link)
    add_clmm("clmm_maximal_probit", maximal)
  },
  singular = function() {
    add_clmm("clmm_probit", crossed)
    add_clmm("clmm_logit", crossed, link = "logit")
    add_lmer("lmer", crossed)
    add_lmer("lmer_ml", crossed, "ML")
    add_lmer("lmer_maximal", maximal)
    add_lmer("lmer_maximal_ml", maximal, "ML")
  },
  unused = function() {
    for (link in c("probit", "logit")) {
      add_clm(paste0("clm_", link), "rating ~ system", link)
      add_clmm(paste0("clmm_", link), crossed, link = link)
    }
    add_lmer("lmer", crossed)
  },
  nested = function() {
    both <- "rating ~ system + (1 | document/sentence)"
    add_clmm("clmm_probit", both)
    add_clmm("clmm_rater_logit", "rating ~ system + (1 | document/sentence) + (1 | rater)", link = "logit")
    add_lmer("lmer", both)
    add_lmer("lmer_rater", "rating ~ system + (1 | document/sentence) + (1 | rater)")
    add_lmer("lmer_interaction", "rating ~ system + (1 | document:sentence) + (1 | rater)")
  },
  slider = function() {
    f <- add_lm("lm", "rating ~ system")
    f <- add_lmer("lmer", crossed)
    interval <- suppressMessages(confint(f, method = "profile", oldNames = FALSE))
    extra$profile$lmer <<- list(fit = "lmer", names = rownames(interval), low = I(interval[, 1]), high = I(interval[, 2]))
    add_contrasts("lmer_satterthwaite", "lmer", f, lmer.df = "satterthwaite")
    add_lmer("lmer_ml", crossed, "ML")
    add_lmer("lmer_rater_slopes", "rating ~ system + (system | rater) + (1 | item)")
    add_lmer("lmer_rater_slopes_ml", "rating ~ system + (system | rater) + (1 | item)", "ML")
  },
  covariate = function() {
    add_clm("clm_probit", "rating ~ system * words")
    add_clmm("clmm_probit", "rating ~ system + words + (1 | item) + (1 | rater)")
    add_clmm("clmm_slope_alone_probit", "rating ~ system + words + (0 + words | rater)")
    add_clmm("clmm_uncorrelated_probit", "rating ~ system + words + (words || rater)",
             "rating ~ system + words + (1 | rater) + (0 + words | rater)")
    add_clmm("clmm_correlated_probit", "rating ~ system + words + (words | rater)")
    add_lm("lm", "rating ~ system * words")
    add_lmer("lmer_slope_alone", "rating ~ system + words + (0 + words | rater) + (1 | item)")
    add_lmer("lmer_uncorrelated", "rating ~ system + words + (words || rater) + (1 | item)")
    add_lmer("lmer_correlated", "rating ~ system + words + (words | rater) + (1 | item)")
    add_lmer("lmer_interaction", "rating ~ system * words + (words || rater)")
  },
  unbalanced = function() {
    add_clm("clm_logit", "rating ~ system * genre", "logit")
    add_clmm("clmm_probit", "rating ~ system * genre + (1 | item) + (1 | rater)")
    add_lm("lm", "rating ~ system * genre")
    add_lmer("lmer", "rating ~ system * genre + (1 | item) + (1 | rater)")
    add_lmer("lmer_ml", "rating ~ system * genre + (1 | item) + (1 | rater)", "ML")
    add_lmer("lmer_additive", "rating ~ system + genre + (1 | item) + (1 | rater)")
    add_lmer("lmer_sum", "rating ~ C(system, Sum) * C(genre, Sum) + (1 | item) + (1 | rater)",
             contrasts = list(system = "contr.sum", genre = "contr.sum"), r_formula = "rating ~ system * genre + (1 | item) + (1 | rater)")
    add_lmer("lmer_maximal", maximal)
  },
  factors = function() {
    three <- "rating ~ system + (1 | item) + (1 | rater) + (1 | sitting)"
    add_clmm("clmm_probit", three)
    add_clmm("clmm_logit", three, link = "logit")
    add_lmer("lmer", three)
    add_lmer("lmer_ml", three, "ML")
    add_lmer("lmer_slopes", "rating ~ system + (1 | item) + (system | rater) + (1 | sitting)")
  }
)
DATA[[name]]()

packages <- c("ordinal", "lme4", "lmerTest", "pbkrtest", "emmeans", "numDeriv", "jsonlite")
answer <- c(list(data = paste0(name, ".csv"), R = R.version.string,
  packages = setNames(lapply(packages, function(p) as.character(packageVersion(p))), packages), fits = fits), extra)
write_json(answer, file.path(folder, paste0(name, ".json")), digits = NA, auto_unbox = TRUE, null = "null", na = "null", pretty = FALSE)
cat(name, ": ", length(fits), " fits, ", round(difftime(Sys.time(), started, units = "secs")), " s\n", sep = "")
