"""How far raters agree: coefficients for codes, values and stretches of time, in numpy alone."""
