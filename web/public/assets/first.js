// Runs before the first paint, and before the app is loaded.
const root = document.body

// Applies the chosen theme and closed panes, so that the page does not flash.
try {
  const theme = localStorage.getItem('byref-theme')
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  const panels = JSON.parse(localStorage.getItem('byref-panels') ?? '{}')
  if (panels.conversations === false) root.dataset.conversations = 'closed'
} catch {
  // Without storage, the defaults apply.
}

// Requests the first page of the conversation in the URL while the app loads (src/main.tsx).
const id = /^\/c\/([^/]+)\/?$/.exec(location.pathname)?.[1]
if (id) {
  const answer = fetch(`/api/conversations/${id}/events?after=0&limit=1000`)
  globalThis.byrefFirstPage = answer.then((response) => (response.ok ? response.json() : null))
  globalThis.byrefFirstPage.catch(() => {})
}
