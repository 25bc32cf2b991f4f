import { useServer } from '../app/server.ts'

/** Renders the link that downloads a file, for a notice about it. */
export function DownloadLink({ reference }: { reference: string }) {
  const { client } = useServer()
  return (
    <a
      href={client.assetUrl(reference, { download: true })}
      download
      className="rounded px-1.5 py-1 text-xs text-ring hover:underline"
    >
      Download
    </a>
  )
}
