/** Renders a PDF in the browser's own viewer. */
export function DocumentPreview({ url, title }: { url: string; title: string }) {
  return (
    <iframe src={url} title={title} className="h-[32rem] w-full rounded-lg border border-line" />
  )
}
