/** A `content-disposition` that has a browser save what is sent under this name. */
export function attachment(name: string): string {
  // RFC 8187 allows fewer characters than a URL does.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

/** A title as the name of a file that every system takes, with the day of a time (ISO 8601) and an extension. */
export function fileName(title: string, time: string, extension: string): string {
  const safe = title
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
  const short = [...safe].slice(0, 80).join('').trim() || 'conversation'
  return `${short} ${time.slice(0, 10)}.${extension}`
}
