# Makes pinned.json: the values of R that tests/analysis/design/test_equal_to_r.py looks for.
# Rscript tests/analysis/design/pinned.R FRAME.csv > values; run over the frames of `frames.py`.
suppressMessages({library(afex); library(emmeans); library(lmerTest)})
options(contrasts = c("contr.sum", "contr.poly"), digits = 17)
afex_options(check_contrasts = FALSE, include_aov = FALSE, return_aov = "afex_aov")
emm_options(lmerTest.limit = 1e5, lmer.df = "satterthwaite")
args <- commandArgs(TRUE)
d <- read.csv(args[1], stringsAsFactors = FALSE)
kind <- args[2]
say <- function(...) cat(paste(..., sep = "\t"), "\n", sep = "")
between <- intersect(c("g", "h"), names(d)); within <- intersect(c("a", "b"), names(d))
for (f in c(between, within, "participant")) d[[f]] <- factor(d[[f]])
if ("x" %in% names(d)) d$x <- d$x - mean(d$x)  # every participant has as many rows
means <- function(model) {
  for (f in c(within, between)) {
    e <- suppressMessages(emmeans(model, as.formula(paste("~", f))))
    s <- as.data.frame(e)
    for (i in seq_len(nrow(s))) say("mean", f, as.character(s[i, 1]), s[i, "emmean"], s[i, "SE"], s[i, "df"])
    p <- as.data.frame(pairs(e, adjust = "none"))
    for (i in seq_len(nrow(p))) say("pair", f, i, p[i, "estimate"], p[i, "SE"], p[i, "df"], p[i, "p.value"])
  }
}
if (kind == "anova") {
  m <- suppressWarnings(suppressMessages(aov_ez("participant", "value", d, between = if (length(between)) between,
              within = if (length(within)) within, covariate = if ("x" %in% names(d)) "x",
              factorize = FALSE, type = 3,
              observed = if ("x" %in% names(d)) "x",
              anova_table = list(es = c("ges", "pes"), correction = "none"))))
  a <- m$anova_table
  for (i in seq_len(nrow(a)))
    say("term", rownames(a)[i], a[i, "F"], a[i, "num Df"], a[i, "den Df"], a[i, "Pr(>F)"], a[i, "ges"], a[i, "pes"])
  if (length(within)) {
    s <- suppressWarnings(summary(m))
    if (!is.null(s$pval.adjustments) && length(s$pval.adjustments)) for (i in seq_len(nrow(s$pval.adjustments)))
      say("gg", rownames(s$pval.adjustments)[i], s$pval.adjustments[i, "GG eps"], s$pval.adjustments[i, "Pr(>F[GG])"])
    if (!is.null(s$sphericity.tests) && length(s$sphericity.tests)) for (i in seq_len(nrow(s$sphericity.tests)))
      say("mauchly", rownames(s$sphericity.tests)[i], s$sphericity.tests[i, "Test statistic"])
  }
  if (!("x" %in% names(d))) means(m)
} else if (kind == "mixed") {
  f <- as.formula(paste("value ~", paste(c(within, between), collapse = " * "), "+ (1 | participant)",
                        if ("stimulus" %in% names(d)) "+ (1 | stimulus)"))
  m <- suppressMessages(lmer(f, d))
  a <- anova(m, type = 3, ddf = "Satterthwaite")
  for (i in seq_len(nrow(a))) say("term", rownames(a)[i], a[i, "F value"], a[i, "NumDF"], a[i, "DenDF"], a[i, "Pr(>F)"])
  v <- as.data.frame(VarCorr(m))
  for (i in seq_len(nrow(v))) say("sd", v[i, "grp"], v[i, "sdcor"])
  means(m)
} else {
  f <- as.formula(paste("value ~", paste(c(within, between), collapse = " * ")))
  m <- glm(f, binomial, d, control = list(epsilon = 1e-14, maxit = 100))
  X <- model.matrix(m); mu <- fitted(m); r <- d$value - mu
  bread <- solve(t(X) %*% (X * mu * (1 - mu)))
  meat <- matrix(0, ncol(X), ncol(X))
  for (p in unique(d$participant)) {  # Mancl and DeRouen (2001), working independence
    at <- which(d$participant == p); D <- X[at, , drop = FALSE] * (mu[at] * (1 - mu[at]))
    H <- D %*% bread %*% t(X[at, , drop = FALSE])
    u <- t(X[at, , drop = FALSE]) %*% solve(diag(length(at)) - H, r[at])
    meat <- meat + u %*% t(u)
  }
  V <- bread %*% meat %*% bread; b <- coef(m)
  for (k in seq_along(b)) say("coefficient", k, b[k], sqrt(V[k, k]))
}
