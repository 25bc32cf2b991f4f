import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { useServer } from './server.ts'

/** Asks for a token. The browser keeps it as a cookie that scripts cannot read. */
export function SignIn() {
  const { client, queries } = useServer()
  const [token, setToken] = useState('')
  const { run, isBusy, error } = useAction(async () => {
    await client.openSession(token.trim())
    await queries.resetQueries()
  })
  const problem = error === null ? null : errorText(error)

  return (
    <main className="grid h-full place-items-center overflow-y-auto bg-ground p-4">
      <title>Sign in · byref</title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
        className="w-full max-w-sm rounded-xl border border-line bg-raised p-6 shadow-float"
      >
        <p
          aria-hidden
          className="mb-4 grid size-10 place-items-center rounded-xl bg-zinc-900 text-lg font-bold text-amber-400 ring-1 ring-line-strong"
        >
          †
        </p>
        <h1 className="text-lg font-semibold tracking-tight">Sign in</h1>
        <p className="mt-1 text-sm text-ink-2">
          This server requires a token. Its operator creates one with{' '}
          <code className="font-mono text-xs">byref token</code>
        </p>
        <label className="mt-4 block text-sm font-medium">
          Token
          <input
            type="password"
            required
            // biome-ignore lint/a11y/noAutofocus: there is nothing else on the page
            autoFocus
            autoComplete="current-password"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
            className="mt-1 block h-9 w-full rounded-md border border-line-strong bg-surface px-2.5 font-mono text-sm font-normal max-md:text-[1rem]"
          />
        </label>
        {problem && (
          <Notice tone="bad" code={problem.code} live className="mt-3">
            {problem.code === 'unauthorized'
              ? 'The token is not for this server, or it has expired. Ask for a new one.'
              : problem.message}
          </Notice>
        )}
        <Button
          look="solid"
          type="submit"
          disabled={isBusy || token.trim() === ''}
          className="mt-4 h-9 w-full"
        >
          Sign in
        </Button>
      </form>
    </main>
  )
}
