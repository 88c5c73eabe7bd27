"""Two rating scales for the same outputs, compared: interchangeable, reliable, stable, sensitive, valid?"""
