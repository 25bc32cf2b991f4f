/** What may stand in an asset URL within text: no space, quote, bracket or mark. */
const URL_IN_TEXT = /asset:\/\/[^\s<>"'`|\\()[\]{},;]+/gi

/** The asset URLs in a text, with or without marks, without the punctuation behind them. They may name nothing. */
export function findAssetUrls(text: string): string[] {
  if (!/asset:\/\//i.test(text)) return []
  return (text.match(URL_IN_TEXT) ?? []).map((url) => url.replace(/[.:!?*_~]+$/, ''))
}
