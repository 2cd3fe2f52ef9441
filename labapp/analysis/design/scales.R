## The scales: every score from the answers, then alpha and omega of each.
answers <- unescape("answers.csv"); scores <- unescape("scores.csv")
scales <- unescape("scales.csv"); reliability <- unescape("reliability.csv")
for (name in c("low", "high", "moved", "times", "n_items", "enough", "listed"))
  scales[[name]] <- as.numeric(scales[[name]])
for (name in c("n_items", "n", "n_incomplete", "n_unscored", "mean", "sd", "alpha", "low", "high", "omega",
               "loading", "item_rest")) reliability[[name]] <- as.numeric(reliability[[name]])
people <- unescape("participants.csv")
counting <- with(people[people$included == "True", ], paste(study, participant, session, sep = "\r"))
answers <- answers[answers$submitted == "True" & with(answers, paste(study, participant, session, sep = "\r")) %in% counting, ]
scores <- scores[with(scores, paste(study, participant, session, sep = "\r")) %in% counting, ]
pasted <- function(d, columns) {
  if (!length(columns)) return(rep("", nrow(d)))
  apply(as.matrix(d[columns]), 1, function(row) paste(row[!is.na(row)], collapse = ", "))
}
check_scale <- function(s) {
  own <- function(d) d[d$study == s$study & d$instrument == s$instrument & d$instrument_version == s$version, ]
  items <- own(scales); items <- items[items$score == s$score, ]; items <- items[order(items$listed), ]
  d <- own(answers)
  sheet <- paste(d$participant, d$session, d$stage, sep = "\r")
  first <- !duplicated(sheet); met <- pasted(d, s$cells)
  turn <- ave(seq_len(sum(first)), paste(d$participant, met, sep = "\r")[first], FUN = seq_along)
  turn <- turn[match(sheet, sheet[first])]
  occasion <- paste0(met, ifelse(turn == 1, "", paste0(ifelse(met == "", "", ", "), "time ", turn)))
  for (here in unique(occasion)) {
    a <- list(id = NA, quantity = paste(s$instrument, s$score, here))
    sheets <- unique(sheet[occasion == here])
    X <- sapply(seq_len(nrow(items)), function(k) {
      v <- d$value[match(paste(sheets, items$item[k], sep = "\r"), paste(sheet, d$item, sep = "\r"))]
      if (items$reversed[k] == "True") items$low[k] + items$high[k] - v else v
    })
    X <- matrix(X, ncol = nrow(items))
    ## Scores: a sum is scaled up to all items.
    answered <- rowSums(!is.na(X)); ours <- rowMeans(X + items$moved[1], na.rm = TRUE) * items$times[1]
    if (items$rule[1] == "sum") ours <- ours * ncol(X)
    printed_scores <- own(scores); printed_scores <- printed_scores[printed_scores$score == s$score, ]
    their <- printed_scores$value[match(sheets, with(printed_scores, paste(participant, session, stage, sep = "\r")))]
    scored <- answered >= items$enough[1]
    compare(a, "scores missing", sum(is.na(their)), sum(!scored), CLOSED)
    for (i in which(scored)) compare(a, paste("score", i), their[i], ours[i], CLOSED)
    rows <- own(reliability)
    rows <- rows[rows$score == s$score & ifelse(is.na(rows$occasion), "", rows$occasion) == here, ]
    r <- rows[is.na(rows$item), ]; each <- rows[match(items$item, rows$item), ]
    X <- X[answered == ncol(X), , drop = FALSE]; n <- nrow(X); k <- ncol(X)
    compare(a, "n", r$n, n, CLOSED)
    if (is.na(r$alpha)) next
    alpha_of <- function(X) { C <- cov(X); ncol(X) / (ncol(X) - 1) * (1 - sum(diag(C)) / sum(C)) }
    alpha <- alpha_of(X)
    compare(a, "alpha", r$alpha, alpha, CLOSED)
    compare(a, "alpha, lower end", r$low, 1 - (1 - alpha) * qf(0.975, n - 1, (n - 1) * (k - 1)), CLOSED)
    compare(a, "alpha, upper end", r$high, 1 - (1 - alpha) * qf(0.025, n - 1, (n - 1) * (k - 1)), CLOSED)
    for (j in seq_len(k)) {
      compare(a, paste(items$item[j], "item-rest"), each$item_rest[j], cor(X[, j], rowSums(X[, -j, drop = FALSE])), CLOSED)
      if (k > 2) compare(a, paste("alpha without", items$item[j]), each$alpha[j], alpha_of(X[, -j, drop = FALSE]), CLOSED)
    }
    if (requireNamespace("psych", quietly = TRUE)) {
      p <- suppressMessages(suppressWarnings(psych::alpha(as.data.frame(X), warnings = FALSE)))
      compare(a, "alpha, by psych", r$alpha, p$total$raw_alpha, CLOSED)
    }
    if (is.na(r$omega)) next
    f <- factanal(covmat = list(cov = cor(X), n.obs = n), factors = 1, control = list(opt = list(factr = 1)))
    l <- f$loadings[, 1]; l <- l * sign(sum(l)); shared <- sum(l * apply(X, 2, sd))^2
    compare(a, "omega", r$omega, shared / (shared + sum(f$uniquenesses * apply(X, 2, var))), ITERATIVE)
    for (j in seq_len(k)) compare(a, paste(items$item[j], "loading"), each$loading[j], l[[j]], 10 * ITERATIVE)
  }
}
