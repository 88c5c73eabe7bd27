"""Models of ratings: pure numerics, which know nothing about studies.

Letters, in all of this folder: n ratings, p fixed effects, X (n, p) and β; grouping factors with m columns
in all, Z (n, m), V = ZΛ, random effects b = Λu; thresholds t = Jα; θ or τ the free entries of Λ; σ the
residual standard deviation; ψ = (α, β, τ). docs/method.md has the mathematics.
"""
