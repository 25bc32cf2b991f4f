// The import of the styles has only effects, in projects whose bundler declares no types of CSS, too.
export {}
