"""Systems compared from people's ratings of some outputs and a judge's scores of all."""
