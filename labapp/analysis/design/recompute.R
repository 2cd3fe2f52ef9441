# Recomputes every number of labapp's analyses according to the design, and compares them with statistics.csv.
#
#   Rscript analysis.R            from any folder (packages: lme4, lmerTest)
#
# It prints a line a number that is off, then a summary, and ends with an error if any is off.
# Closed forms are compared with a tolerance of 1e-8, iterative fits with 1e-4.

## The tables lie beside this script, wherever it is called from; sourced, in the working directory.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- if (length(script) == 1) dirname(gsub("~+~", " ", script, fixed = TRUE)) else "."
suppressPackageStartupMessages({ library(lme4); library(lmerTest) })
options(contrasts = c("contr.sum", "contr.poly"), warn = 1)
## Text stays text ("01" is no number), and loses the apostrophe that guards it from spreadsheets.
NUMBERS <- c("value", "position", "analysis", "n", "mean", "median", "sd", "difference", "standard_error",
             "statistic", "df", "df_2", "p", "p_corrected", "effect", "effect_low", "effect_high", "low", "high",
             "epsilon", "bound", "n_tests",
             paste0("covariate_", 1:20))
unescape <- function(path) {
  d <- read.csv(file.path(folder, path), na.strings = "", colClasses = "character", encoding = "UTF-8", check.names = FALSE)
  for (name in names(d))
    d[[name]] <- if (name %in% NUMBERS) as.numeric(d[[name]]) else sub("^'('*[-=+@\t\r])", "\\1", d[[name]])
  d
}
values <- unescape("analysed_values.csv")
printed <- unescape("statistics.csv")
printed <- printed[!is.na(printed$analysis), ]
CLOSED <- 1e-8
ITERATIVE <- 1e-4
results <- data.frame()

seen <- list()
compare <- function(a, what, ours, r, tolerance) {
  seen[[length(seen) + 1]] <<- ours
  if (length(ours) != 1 || is.na(ours)) return(invisible())
  difference <- abs(ours - r) / max(1, abs(r))
  results <<- rbind(results, data.frame(
    analysis = a$id, quantity = a$quantity, what = what, labapp = ours, R = r,
    difference = difference, tolerance = tolerance, equal = !is.na(difference) && difference <= tolerance))
}
row_of <- function(a, kind, ...) {
  rows <- printed[printed$analysis == a$id & printed$kind == kind, ]
  wanted <- list(...)
  for (name in names(wanted)) rows <- rows[!is.na(rows[[name]]) & rows[[name]] == wanted[[name]], ]
  if (nrow(rows) == 1) rows else NULL
}
frame_of <- function(a, rows) {
  d <- values[values$analysis == a$id & values$rows == rows, ]
  if (!nrow(d)) return(NULL)
  for (k in seq_along(a$factors)) d[[a$factors[k]]] <- factor(d[[paste0("level_", k)]], a$levels[[k]])
  for (k in seq_along(a$covariates)) {
    x <- d[[paste0("covariate_", k)]]
    d[[a$covariates[k]]] <- x - mean(tapply(x, d$participant, mean))
  }
  d$participant <- factor(d$participant)
  if (!all(is.na(d$stimulus))) d$stimulus <- factor(d$stimulus)
  d
}
## R's noncentral t is wrong beyond this noncentrality; nothing is compared there.
FAR <- 37.62
## Ends of the 95 % interval of the noncentrality of a t and an F.
noncentral <- function(share, start, step) vapply(c(0.975, 0.025), function(wanted) {
  side <- if (wanted > 0.5) -1 else 1; from <- start
  for (k in 1:40) {
    to <- from + side * step
    if ((share(to) - wanted) * (share(start) - wanted) < 0)
      return(uniroot(function(at) share(at) - wanted, sort(c(from, to)), tol = 1e-11)$root)
    from <- to
  }
  NA_real_
}, 0)
t_ends <- function(t, df) {
  ends <- noncentral(function(at) suppressWarnings(pt(abs(t), df, at)), abs(t), sqrt(1 + t^2 / (2 * df)))
  ends[abs(ends) > FAR] <- Inf
  if (t < 0) -rev(ends) else ends
}
f_ends <- function(F, df, dfe) vapply(c(0.95, 0.05), function(wanted) {
  share <- function(at) suppressWarnings(pf(F, df, dfe, at))
  if (share(0) <= wanted) return(0)
  to <- 1 + F * df
  while (share(to) > wanted) to <- 2 * to
  uniroot(function(at) share(at) - wanted, c(0, to), tol = 1e-11)$root
}, 0)
compare_ends <- function(a, what, r, ends, tolerance) {
  if (!is.infinite(ends[1])) compare(a, paste(what, "lower end"), r[[1]], ends[1], tolerance)
  if (!is.infinite(ends[2])) compare(a, paste(what, "upper end"), r[[2]], ends[2], tolerance)
}
back <- function(value, transform) switch(transform, log = exp(value), sqrt = pmax(value, 0)^2,
                                          logit = plogis(value), value)
quoted <- function(names) if (length(names)) paste0("`", names, "`") else character()
term_key <- function(term) paste(sort(strsplit(gsub("`", "", term), ":| × ")[[1]]), collapse = "|")

## Weights of cells: products over the factors, the mean over those that are not named.
cell_weights <- function(a, weights, which) {
  made <- 1
  for (k in which) {
    w <- weights[[a$factors[k]]]
    own <- if (is.null(w)) rep(1 / length(a$levels[[k]]), length(a$levels[[k]]))
           else { v <- setNames(rep(0, length(a$levels[[k]])), a$levels[[k]]); v[names(w)] <- w; v }
    made <- as.vector(kronecker(made, own))
  }
  made
}
cells_of <- function(a, which) {
  if (!length(which)) return(data.frame(row.names = 1))
  grid <- rev(expand.grid(rev(setNames(lapply(which, function(k) factor(a$levels[[k]], a$levels[[k]])),
                                       a$factors[which])), KEEP.OUT.ATTRS = FALSE))
  grid
}
## Without interactions where a combination of levels has no rows.
right_side <- function(a, which, d) {
  f <- quoted(a$factors[which]); x <- quoted(a$covariates)
  side <- function(sign) {
    parts <- c(x, if (length(f)) paste(f, collapse = sign))
    if (length(parts)) paste(parts, collapse = " + ") else "1"
  }
  X <- model.matrix(as.formula(paste("~", side(" * "))), d)
  side(if (qr(X)$rank == ncol(X)) " * " else " + ")
}

## Complete data: type III sums of squares on orthonormal contrasts of the cells within participants.
anova_model <- function(a, d) {
  within <- which(a$within); between <- which(!a$within)
  cells <- cells_of(a, within)
  key <- function(x) if (length(within)) do.call(paste, c(lapply(x[a$factors[within]], as.character), sep = "\r")) else rep("", nrow(x))
  order <- if (length(within)) do.call(paste, c(lapply(cells, as.character), sep = "\r")) else ""
  people <- sort(unique(as.character(d$participant)))
  Y <- matrix(NA_real_, length(people), length(order))
  Y[cbind(match(as.character(d$participant), people), match(key(d), order))] <- d$value
  whole <- stats::complete.cases(Y)
  Y <- Y[whole, , drop = FALSE]
  who <- d[match(people[whole], as.character(d$participant)), , drop = FALSE]
  for (x in a$covariates) who[[x]] <- who[[x]] - mean(who[[x]])
  formula <- as.formula(paste("~", right_side(a, between, who)))
  X <- model.matrix(formula, who)
  list(a = a, Y = Y, X = X, who = who, within = within, between = between, formula = formula,
       inverse = solve(crossprod(X)), df = nrow(X) - ncol(X), n = nrow(Y), cells = cells)
}
fit_scores <- function(m, S) {
  B <- m$inverse %*% crossprod(m$X, S)
  list(B = B, E = S - m$X %*% B)
}
anova_terms <- function(m) {
  a <- m$a; labels <- c("(Intercept)", attr(terms(m$formula), "term.labels")); assign <- attr(m$X, "assign")
  sets <- list(integer())
  for (size in seq_along(m$within)) sets <- c(sets, combn(seq_along(m$within), size, simplify = FALSE))
  made <- list(); errors <- 0
  for (set in sets) {
    M <- matrix(1)
    for (k in seq_along(m$within)) {
      n <- length(a$levels[[m$within[k]]])
      own <- if (k %in% set) qr.Q(qr(cbind(1, contr.helmert(n))))[, -1, drop = FALSE] else matrix(1 / sqrt(n), n, 1)
      M <- kronecker(M, own)
    }
    f <- fit_scores(m, m$Y %*% M); SSE <- crossprod(f$E); errors <- errors + sum(diag(SSE))
    for (k in unique(assign)) {
      if (k == 0 && !length(set)) next
      at <- which(assign == k); B <- f$B[at, , drop = FALSE]
      SS <- sum(diag(t(B) %*% solve(m$inverse[at, at, drop = FALSE], B)))
      factors <- c(if (k > 0) strsplit(gsub("`", "", labels[k + 1]), ":")[[1]], a$factors[m$within[set]])
      d <- ncol(M); S <- SSE / m$df
      eps <- sum(diag(S))^2 / (d * sum(S^2))
      made[[length(made) + 1]] <- list(factors = factors, SS = SS, SSE = sum(diag(SSE)), df = length(at) * d,
        dfe = m$df * d, d = d, eps = eps, W = if (d > 1 && m$df >= d) det(S / (sum(diag(S)) / d)) else NA)
    }
  }
  measured <- c(a$measured, a$covariates)
  observed <- sum(vapply(made, function(t) if (any(t$factors %in% measured)) t$SS else 0, 0))
  lapply(made, function(t) {
    t$F <- (t$SS / t$df) / (t$SSE / t$dfe)
    own <- if (any(t$factors %in% measured)) t$SS else 0
    t$ges <- t$SS / (t$SS + errors + observed - own); t$pes <- t$SS / (t$SS + t$SSE); t
  })
}
## Root of the mean variance, within groups, of the levels within participants that are weighted.
average_sd <- function(m, weights) {
  named <- m$a$factors[m$within]; named <- named[named %in% names(weights)]
  if (!length(named)) return(NA)
  levels <- expand.grid(lapply(setNames(named, named), function(f) names(weights[[f]])[weights[[f]] != 0]),
                        stringsAsFactors = FALSE)
  variances <- vapply(seq_len(nrow(levels)), function(k) {
    w <- lapply(setNames(named, named), function(f) setNames(1, levels[k, f]))
    sum(fit_scores(m, m$Y %*% cell_weights(m$a, w, m$within))$E^2) / m$df
  }, 0)
  sqrt(mean(variances))
}
anova_estimate <- function(m, weights) {
  S <- m$Y %*% cell_weights(m$a, weights, m$within)
  f <- fit_scores(m, S)
  cells <- cells_of(m$a, m$between)
  for (x in m$a$covariates) cells[[x]] <- 0
  L <- cell_weights(m$a, weights, m$between) %*% model.matrix(m$formula, cells)
  s <- sqrt(sum(f$E^2) / m$df)
  list(value = drop(L %*% f$B), error = s * sqrt(drop(L %*% m$inverse %*% t(L))), df = m$df, spread = s,
       average = average_sd(m, weights))
}

## Gaps: a random intercept of participants, REML, Satterthwaite.
## lmerTest's degrees of freedom need values whose standard deviation is near 1.
mixed_model <- function(a, d, random = "(1 | participant)") {
  unit <- sd(d$value); d$value <- d$value / unit
  side <- right_side(a, seq_along(a$factors), d)
  f <- as.formula(paste("value ~", side, "+", random))
  ## A single search can stop early: the fit with the least REML criterion of several is compared.
  fit <- function(optimizer, start = NULL) tryCatch(suppressMessages(suppressWarnings(lmerTest::lmer(f, d, start = start,
    control = lme4::lmerControl(optimizer = optimizer, calc.derivs = FALSE,
                                optCtrl = if (optimizer == "bobyqa") list(rhoend = 1e-9) else list())))),
    error = function(e) NULL)
  fits <- list(fit("bobyqa"), fit("Nelder_Mead"))
  k <- length(lme4::getME(Filter(Negate(is.null), fits)[[1]], "theta"))
  for (start in c(0.1, 0.5, 2)) fits <- c(fits, fit("bobyqa", rep(start, k)))
  fits <- Filter(Negate(is.null), fits)
  m <- fits[[which.min(vapply(fits, lme4::REMLcrit, 0))]]
  list(a = a, m = m, unit = unit, formula = as.formula(paste("~", side)))
}
mixed_estimate <- function(x, weights) {
  cells <- cells_of(x$a, seq_along(x$a$factors))
  for (name in x$a$covariates) cells[[name]] <- 0
  L <- drop(cell_weights(x$a, weights, seq_along(x$a$factors)) %*% model.matrix(x$formula, cells))
  t <- lmerTest::contest1D(x$m, L, ddf = "Satterthwaite")
  list(value = x$unit * t[["Estimate"]], error = x$unit * t[["Std. Error"]], df = t[["df"]])
}

## Yes or no: logistic regression, working independence, covariance of Mancl and DeRouen (2001).
logistic_terms <- function(a, d) {
  side <- right_side(a, seq_along(a$factors), d)
  f <- as.formula(paste("value ~", side))
  m <- glm(f, binomial, d, control = list(epsilon = 1e-14, maxit = 200))
  X <- model.matrix(m); mu <- fitted(m); r <- d$value - mu
  bread <- solve(t(X) %*% (X * mu * (1 - mu))); meat <- matrix(0, ncol(X), ncol(X))
  for (p in unique(d$participant)) {
    at <- which(d$participant == p); Xp <- X[at, , drop = FALSE]
    H <- (Xp * (mu[at] * (1 - mu[at]))) %*% bread %*% t(Xp)
    u <- t(Xp) %*% solve(diag(length(at)) - H, r[at]); meat <- meat + u %*% t(u)
  }
  V <- bread %*% meat %*% bread; b <- coef(m); assign <- attr(X, "assign")
  labels <- attr(terms(m), "term.labels"); dfe <- length(unique(d$participant)) - length(b)
  made <- lapply(seq_along(labels), function(k) {
    at <- which(assign == k); F <- drop(b[at] %*% solve(V[at, at, drop = FALSE], b[at])) / length(at)
    list(factors = labels[k], F = F, df = length(at), dfe = dfe)
  })
  estimate <- function(weights) {
    cells <- cells_of(a, seq_along(a$factors))
    for (name in a$covariates) cells[[name]] <- 0
    M <- model.matrix(as.formula(paste("~", side)), cells)
    L <- drop(cell_weights(a, weights, seq_along(a$factors)) %*% M)
    list(value = sum(L * b), error = sqrt(drop(L %*% V %*% L)), df = dfe)
  }
  list(terms = made, estimate = estimate)
}
check_trial_contrasts <- function(a, estimate, odds) for (contrast in a$contrasts) {
  rows <- printed[printed$analysis == a$id & printed$kind == "sensitivity" & !is.na(printed$contrast) &
                    printed$contrast == contrast$name & printed$factors == contrast$factors &
                    printed$direction == contrast$direction, ]
  if (nrow(rows) != 1) next
  r <- rows[1, ]; e <- estimate(contrast$weights); t <- e$value / e$error
  what <- paste("trials,", contrast$name); half <- qt(0.975, e$df) * e$error
  compare(a, paste(what, "difference"), r$difference, e$value, ITERATIVE)
  compare(a, paste(what, "t"), r$statistic, t, ITERATIVE)
  compare(a, paste(what, "df"), r$df, e$df, 10 * ITERATIVE)
  compare(a, paste(what, "p"), r$p, tail_p(t, e$df, contrast$direction), ITERATIVE)
  compare_ends(a, what, c(r$low, r$high), e$value + c(-half, half), ITERATIVE)
  if (odds) {
    compare(a, paste(what, "odds ratio"), r$effect, exp(e$value), ITERATIVE)
    compare_ends(a, paste(what, "odds ratio"), c(r$effect_low, r$effect_high), exp(e$value + c(-half, half)), ITERATIVE)
  }
}

tail_p <- function(t, df, direction) {
  if (direction == "greater") return(pt(t, df, lower.tail = FALSE))
  if (direction == "less") return(pt(t, df))
  2 * pt(abs(t), df, lower.tail = FALSE)
}
same_term <- function(a, kind, factors, pattern) {
  rows <- printed[printed$analysis == a$id & printed$kind %in% kind & !is.na(printed$factors), ]
  key <- paste(sort(a$plain(factors)), collapse = "|")
  rows <- rows[vapply(rows$factors, term_key, "") == key & grepl(pattern, rows$test), ]
  if (nrow(rows) == 1) rows else NULL
}
check_anova <- function(a, m, kind) for (t in anova_terms(m)) {
  what <- paste(a$plain(t$factors), collapse = ":")
  r <- same_term(a, kind, t$factors, "^ANOVA F$")
  if (!is.null(r)) {
    compare(a, paste(what, "F"), r$statistic, t$F, CLOSED)
    compare(a, paste(what, "df"), r$df, t$df, CLOSED)
    compare(a, paste(what, "df error"), r$df_2, t$dfe, CLOSED)
    compare(a, paste(what, "p"), r$p, pf(t$F, t$df, t$dfe, lower.tail = FALSE), CLOSED)
    compare(a, paste(what, "partial eta squared"), r$effect, t$pes, CLOSED)
    ends <- f_ends(t$F, t$df, t$dfe); ends <- ends / (ends + t$df + t$dfe + 1)
    compare_ends(a, paste(what, "partial eta squared"), c(r$effect_low, r$effect_high), ends, ITERATIVE)
  }
  r <- same_term(a, kind, t$factors, "^ANOVA F, Greenhouse")
  if (!is.null(r)) {
    compare(a, paste(what, "epsilon"), r$epsilon, t$eps, CLOSED)
    compare(a, paste(what, "p, Greenhouse-Geisser"), r$p,
            pf(t$F, t$df * t$eps, t$dfe * t$eps, lower.tail = FALSE), CLOSED)
  }
  r <- same_term(a, kind, t$factors, "^generalised")
  if (!is.null(r)) compare(a, paste(what, "generalised eta squared"), r$effect, t$ges, CLOSED)
  r <- same_term(a, "check", t$factors, "^Mauchly")
  if (!is.null(r)) {
    compare(a, paste(what, "Mauchly's W"), r$statistic, t$W, CLOSED)
    # The approximation of first order, as SAS and SPSS have it; mauchly.test adds a second term.
    p <- pchisq(-(m$df - (2 * t$d^2 + t$d + 2) / (6 * t$d)) * log(min(t$W, 1)),
                t$d * (t$d + 1) / 2 - 1, lower.tail = FALSE)
    compare(a, paste(what, "Mauchly's p"), r$p, p, CLOSED)
  }
}
## What the tests assume, the place in the order, and tests by ranks.
check_checks <- function(a, m, d) {
  rows <- printed[printed$analysis == a$id & printed$kind == "check" & !is.na(printed$p), ]
  level_means <- function(k) {
    within <- match(k, m$within)
    codes <- cells_of(a, m$within)[[a$factors[k]]]
    vapply(a$levels[[k]], function(l) rowMeans(m$Y[, codes == l, drop = FALSE]), numeric(nrow(m$Y)))
  }
  for (r in seq_len(nrow(rows))) {
    name <- rows$test[r]; p <- NA; tolerance <- CLOSED
    k <- which(a$plain(a$factors) == rows$factors[r])
    if (grepl("^Shapiro", name)) {
      Y <- if (ncol(m$Y) > 1) m$Y - rowMeans(m$Y) else m$Y
      p <- shapiro.test(as.vector(fit_scores(m, Y)$E))$p.value; tolerance <- ITERATIVE
    } else if (grepl("^Brown", name)) {
      g <- interaction(m$who[a$factors[m$between]], drop = TRUE); y <- round(rowMeans(m$Y), 12)
      keep <- g %in% names(which(table(g) > 1)); g <- droplevels(g[keep]); y <- y[keep]
      away <- abs(y - ave(y, g, FUN = median))
      p <- oneway.test(away ~ g, var.equal = TRUE)$p.value
    } else if (grepl("Friedman", name)) {
      p <- friedman.test(round(level_means(k), 9))$p.value
    } else if (grepl("Kruskal", name)) {
      p <- kruskal.test(round(rowMeans(m$Y), 9), m$who[[a$factors[k]]])$p.value
    } else if (grepl("Mann-Whitney", name)) {
      y <- round(rowMeans(m$Y), 9); g <- m$who[[a$factors[k]]]
      exact <- min(table(g)) <= 8 && !anyDuplicated(y)
      p <- wilcox.test(y ~ g, exact = exact, correct = TRUE)$p.value
    } else if (grepl("Wilcoxon", name)) {
      means <- level_means(k); y <- round(means[, 1] - means[, 2], 9)
      exact <- length(y) <= 50 && all(y != 0) && !anyDuplicated(abs(y))
      p <- suppressWarnings(wilcox.test(y, exact = exact, correct = FALSE)$p.value)
    } else if (grepl("^position", name)) {
      d$place <- factor(d$position); d$value <- d$value / sd(d$value)
      f <- as.formula(paste("value ~", right_side(a, seq_along(a$factors), d), "+ place + (1 | participant)"))
      x <- suppressMessages(suppressWarnings(lmerTest::lmer(f, d)))
      t <- as.data.frame(anova(x, type = 3, ddf = "Satterthwaite"))
      p <- t["place", "Pr(>F)"]; tolerance <- ITERATIVE
    } else next
    compare(a, paste(name, "p"), rows$p[r], p, tolerance)
  }
}
check_mixed <- function(a, x, kind, criterion, pattern = "mixed model$") {
  theirs <- lme4::REMLcrit(x$m) + 2 * (nobs(x$m) - length(lme4::fixef(x$m))) * log(x$unit)
  compare(a, "mixed model, REML criterion", criterion, theirs, ITERATIVE)
  if (abs(criterion - theirs) > ITERATIVE)
    cat(sprintf("Analysis %s (%s): the REML criterion of %s is lower by %.2g, so its fit is the better one.\n",
                a$id, a$quantity, if (criterion < theirs) "labapp" else "lme4", abs(criterion - theirs)))
  t <- as.data.frame(anova(x$m, type = 3, ddf = "Satterthwaite"))
  for (k in seq_len(nrow(t))) {
    factors <- strsplit(gsub("`", "", trimws(rownames(t)[k])), ":")[[1]]
    r <- same_term(a, kind, factors, pattern)
    if (is.null(r)) next
    what <- paste("mixed model,", paste(a$plain(factors), collapse = ":"))
    compare(a, paste(what, "F"), r$statistic, t[k, "F value"], ITERATIVE)
    compare(a, paste(what, "df error"), r$df_2, t[k, "DenDF"], 10 * ITERATIVE)
    compare(a, paste(what, "p"), r$p, t[k, "Pr(>F)"], ITERATIVE)
  }
}
check_estimates <- function(a, estimate, tolerance) {
  for (f in seq_along(a$factors)) for (level in a$levels[[f]]) {
    weights <- setNames(list(setNames(1, level)), a$factors[f]); e <- estimate(weights)
    r <- row_of(a, "estimated mean", levels = paste0(a$plain(a$factors[f]), "=", level))
    if (is.null(r)) next
    compare(a, paste("mean of", level), r$mean, e$value, tolerance)
    compare(a, paste("standard error of", level), r$standard_error, e$error, tolerance)
    ends <- e$value + c(-1, 1) * qt(0.975, e$df) * e$error
    compare_ends(a, paste("mean of", level), c(r$low, r$high), ends, 10 * tolerance)
    r <- row_of(a, "back-transformed", levels = paste0(a$plain(a$factors[f]), "=", level))
    if (is.null(r)) next
    what <- paste("back-transformed mean of", level)
    compare(a, what, r$mean, back(e$value, a$transform), tolerance)
    compare_ends(a, what, c(r$low, r$high), back(ends, a$transform), 10 * tolerance)
  }
  for (contrast in a$contrasts) {
    e <- estimate(contrast$weights); t <- e$value / e$error
    own_row <- function(kind, ...) row_of(a, kind, contrast = contrast$name, factors = contrast$factors,
                                          direction = contrast$direction, ...)
    r <- own_row("contrast")
    if (!is.null(r)) {
      compare(a, paste(contrast$name, "difference"), r$difference, e$value, tolerance)
      compare(a, paste(contrast$name, "t"), r$statistic, t, tolerance)
      compare(a, paste(contrast$name, "df"), r$df, e$df, 10 * tolerance)
      compare(a, paste(contrast$name, "p"), r$p, tail_p(t, e$df, contrast$direction), tolerance)
      if (!is.null(e$spread)) {
        small <- if (grepl("^Hedges", r$effect_name)) exp(lgamma(e$df / 2) - lgamma((e$df - 1) / 2)) / sqrt(e$df / 2) else 1
        compare(a, paste(contrast$name, r$effect_name), r$effect, small * e$value / e$spread, tolerance)
        ends <- t_ends(t, e$df) * e$error
        compare_ends(a, paste(contrast$name, r$effect_name), c(r$effect_low, r$effect_high), small * ends / e$spread, ITERATIVE)
        for (name in c("Cohen's d_s", "Cohen's d_av")) {
          d <- own_row("effect", test = name)
          unit <- if (name == "Cohen's d_s") e$spread else e$average
          if (is.null(d)) next
          compare(a, paste(contrast$name, name), d$effect, e$value / unit, tolerance)
          compare_ends(a, paste(contrast$name, name), c(d$effect_low, d$effect_high), ends / unit, ITERATIVE)
        }
      }
      ends <- e$value + c(-1, 1) * qt(0.975, e$df) * e$error
      compare_ends(a, contrast$name, c(r$low, r$high), ends, 10 * tolerance)
      d <- own_row("effect", test = "ratio of geometric means")
      if (!is.null(d)) {
        compare(a, paste(contrast$name, "ratio"), d$effect, exp(e$value), tolerance)
        compare_ends(a, paste(contrast$name, "ratio"), c(d$effect_low, d$effect_high), exp(ends), 10 * tolerance)
      }
    }
  }
  for (contrast in a$contrasts[!duplicated(vapply(a$contrasts, `[[`, "", "name"))]) {
    r <- row_of(a, "equivalence", contrast = contrast$name, factors = contrast$factors)
    if (!is.null(r)) {
      e <- estimate(contrast$weights)
      ## A bound in the outcome's own unit is tested on values that are not transformed.
      if (contrast$untransformed) {
        d <- frame_of(a, "cells"); d$value <- back(d$value, a$transform)
        e <- anova_estimate(anova_model(a, d), contrast$weights)
      }
      above <- (e$value + r$bound) / e$error; below <- (e$value - r$bound) / e$error
      p <- c(pt(above, e$df, lower.tail = FALSE), pt(below, e$df))
      compare(a, paste(contrast$name, "equivalence t"), r$statistic, c(above, below)[which.max(p)], tolerance)
      compare(a, paste(contrast$name, "equivalence df"), r$df, e$df, 10 * tolerance)
      compare(a, paste(contrast$name, "equivalence p"), r$p, max(p), tolerance)
      compare_ends(a, paste(contrast$name, "90 % interval"), c(r$low, r$high),
                   e$value + c(-1, 1) * qt(0.95, e$df) * e$error, 10 * tolerance)
    }
  }
}
check_family <- function(rows) {
  rows <- rows[!is.na(rows$p_corrected), ]
  if (!nrow(rows)) return(invisible())
  corrected <- p.adjust(rows$p, METHOD)
  for (k in seq_len(nrow(rows)))
    compare(list(id = rows$analysis[k], quantity = rows$quantity[k]),
            paste(rows$contrast[k], "p corrected"), rows$p_corrected[k], corrected[k], CLOSED)
}

## Tests that the study chose beside these, of those who have every cell; permutations are not made again.
check_further <- function(a, m) {
  rows <- printed[printed$analysis == a$id & printed$kind == "further" & !is.na(printed$statistic), ]
  groups <- cells_of(a, m$between)
  key <- function(x) if (length(m$between)) do.call(paste, c(lapply(x[a$factors[m$between]], as.character), sep = "\r")) else rep("", nrow(x))
  group <- match(key(m$who), if (length(m$between)) key(groups) else "")
  for (contrast in a$contrasts) {
    own_row <- function(test) {
      r <- rows[rows$model_name == test & rows$contrast %in% contrast$name & rows$factors == contrast$factors &
                  rows$direction == contrast$direction, ]
      if (nrow(r) == 1) r else NULL
    }
    if (!is.null(r <- own_row("trimmed_means"))) {
      w <- cell_weights(a, contrast$weights, m$within); v <- cell_weights(a, contrast$weights, m$between)
      parts <- vapply(which(v != 0), function(g) {
        Y <- m$Y[group == g, , drop = FALSE]; n <- nrow(Y); cut <- floor(0.2 * n); h <- n - 2 * cut
        winsorized <- apply(Y, 2, function(y) { s <- sort(y); pmin(pmax(y, s[cut + 1]), s[n - cut]) })
        C <- var(winsorized) * (n - 1) / (h * (h - 1))
        c(v[g] * sum(w * apply(Y, 2, mean, trim = 0.2)), v[g]^2 * drop(w %*% C %*% w), h - 1)
      }, numeric(3))
      t <- sum(parts[1, ]) / sqrt(sum(parts[2, ])); df <- sum(parts[2, ])^2 / sum(parts[2, ]^2 / parts[3, ])
      compare(a, paste(contrast$name, "trimmed means, t"), r$statistic, t, CLOSED)
      compare(a, paste(contrast$name, "trimmed means, df"), r$df, df, CLOSED)
      compare(a, paste(contrast$name, "trimmed means, p"), r$p, tail_p(t, df, contrast$direction), CLOSED)
    }
    if (!is.null(r <- own_row("bayes_factor"))) {
      e <- anova_estimate(m, contrast$weights); t <- e$value / e$error; root <- e$spread / e$error
      side <- function(from, to) integrate(function(d) suppressWarnings(dt(t, e$df, d * root)) * dcauchy(d, 0, PRIOR),
                                           from, to, rel.tol = 1e-10, stop.on.error = FALSE)$value
      mass <- switch(contrast$direction, greater = 2 * side(0, Inf), less = 2 * side(-Inf, 0), side(-Inf, 0) + side(0, Inf))
      if (abs(t) * (1 + 4 / sqrt(2 * e$df)) < FAR) compare(a, paste(contrast$name, "Bayes factor"), log(r$statistic), log(mass / dt(t, e$df)), ITERATIVE)
    }
  }
  rows <- rows[rows$model_name == "aligned_ranks", ]
  if (!nrow(rows)) return(invisible())
  long <- data.frame(y = as.vector(t(m$Y)))
  for (k in m$between) long[[a$factors[k]]] <- rep(as.character(m$who[[a$factors[k]]]), each = ncol(m$Y))
  for (k in m$within) long[[a$factors[k]]] <- rep(as.character(m$cells[[a$factors[k]]]), m$n)
  average <- function(factors) if (length(factors)) do.call(ave, c(list(long$y), unname(long[factors]))) else rep(mean(long$y), nrow(long))
  for (t in anova_terms(m)) {
    r <- rows[vapply(rows$factors, term_key, "") == paste(sort(a$plain(t$factors)), collapse = "|"), ]
    if (nrow(r) != 1) next
    aligned <- long$y - average(names(long)[-1])
    for (size in 0:length(t$factors)) for (some in combn(t$factors, size, simplify = FALSE))
      aligned <- aligned + (-1)^(length(t$factors) - size) * average(some)
    ranked <- m; ranked$Y <- matrix(rank(round(aligned, 9)), m$n, byrow = TRUE)
    own <- Filter(function(u) setequal(u$factors, t$factors), anova_terms(ranked))[[1]]
    what <- paste("aligned ranks,", r$factors)
    compare(a, paste(what, "F"), r$statistic, own$F, CLOSED)
    compare(a, paste(what, "p"), r$p, pf(own$F, own$df, own$dfe, lower.tail = FALSE), CLOSED)
  }
}

analyse <- function(a) {
  d <- frame_of(a, "cells")
  cell <- rep("", nrow(d))
  for (k in seq_along(a$factors))
    cell <- paste0(cell, if (k > 1) "; ", a$plain(a$factors[k]), "=", d[[a$factors[k]]])
  for (r in which(printed$analysis == a$id & printed$kind == "values")) {
    own <- cell == printed$levels[r]
    if (!isTRUE(any(own))) next
    compare(a, paste("mean,", printed$levels[r]), printed$mean[r], mean(d$value[own]), CLOSED)
    compare(a, paste("sd,", printed$levels[r]), printed$sd[r], sd(d$value[own]), CLOSED)
    n <- sum(own); half <- qt(0.975, n - 1) * sd(d$value[own]) / sqrt(n)
    if (n > 1) compare_ends(a, paste("mean,", printed$levels[r]), c(printed$low[r], printed$high[r]),
                            mean(d$value[own]) + c(-half, half), CLOSED)
  }
  if (a$model == "analysis of variance") {
    m <- anova_model(a, d); check_anova(a, m, "test"); check_checks(a, m, d); check_further(a, m)
    check_estimates(a, function(w) anova_estimate(m, w), CLOSED)
  } else {
    # lmer(value ~ factors + (1 | participant), REML = TRUE)
    x <- mixed_model(a, d); check_mixed(a, x, "test", a$criterion)
    check_estimates(a, function(w) mixed_estimate(x, w), ITERATIVE)
    if (a$complete) {
      m <- anova_model(a, d); check_anova(a, m, "sensitivity"); check_checks(a, m, d); check_further(a, m)
    } else check_checks(a, NULL, d)
  }
  trials <- frame_of(a, "trials")
  if (a$trials == "logistic") {
    odds <- logistic_terms(a, trials)
    check_trial_contrasts(a, odds$estimate, TRUE)
  }
  if (a$trials == "logistic") for (t in odds$terms) {
    r <- same_term(a, "sensitivity", strsplit(gsub("`", "", t$factors), ":")[[1]], "logistic GEE$")
    if (is.null(r)) next
    compare(a, paste("logistic,", t$factors, "F"), r$statistic, t$F, ITERATIVE)
    compare(a, paste("logistic,", t$factors, "p"), r$p, pf(t$F, t$df, t$dfe, lower.tail = FALSE), ITERATIVE)
  } else if (a$trials == "mixed") {
    x <- mixed_model(a, trials, a$random)
    check_mixed(a, x, "sensitivity", a$trials_criterion)
    check_trial_contrasts(a, function(w) mixed_estimate(x, w), FALSE)
  }
  # The same by Bayes; approximate posteriors are never called equal, and nothing is compared:
  # brms::brm(value ~ FACTORS + (1 | participant), data = frame_of(a, "cells"))
}
