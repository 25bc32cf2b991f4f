// Runs before the first paint, and before the app is there.
const root = document.body

// So that a chosen theme, or a pane that was closed, never flashes the other way.
try {
  const theme = localStorage.getItem('byref-theme')
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  const panels = JSON.parse(localStorage.getItem('byref-panels') ?? '{}')
  if (panels.conversations === false) root.dataset.conversations = 'closed'
} catch {
  // Without storage things are as they are at first.
}

// The first page of the conversation that the address names: it comes while the app does (src/main.tsx).
const id = /^\/c\/([^/]+)\/?$/.exec(location.pathname)?.[1]
if (id) {
  const answer = fetch(`/api/conversations/${id}/events?after=0&limit=1000`)
  globalThis.byrefFirstPage = answer.then((response) => (response.ok ? response.json() : null))
  globalThis.byrefFirstPage.catch(() => {})
}
