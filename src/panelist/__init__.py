"""Human evaluation of language systems, from the plan to the paper."""
