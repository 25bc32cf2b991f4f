import { MessageContent, type Renderers } from '@byref/react'

/** Shows notices in a box, places as links to a map, and colours as colours. */
export const renderers: Renderers = {
  messages: {
    notice: ({ message }) => (
      <div role="note" style={{ borderLeft: '3px solid crimson', paddingLeft: 12 }}>
        <MessageContent message={message} />
      </div>
    ),
  },
  contents: {
    'application/geo+json': ({ message }) => {
      const { coordinates } = message.content as { coordinates: [number, number] }
      const [longitude, latitude] = coordinates
      const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
      return (
        <a href={map} target="_blank" rel="noopener noreferrer">
          {latitude}, {longitude} on a map
        </a>
      )
    },
  },
  assets: {
    'text/x-colour': ({ details: { asset } }) => (
      <div
        style={{ background: asset.name ?? 'none', height: 64 }}
        title={asset.name ?? undefined}
      />
    ),
  },
}
