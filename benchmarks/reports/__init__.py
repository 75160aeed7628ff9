"""What came out: a page of Markdown, a page of HTML and a file of numbers, without a word of the data."""
