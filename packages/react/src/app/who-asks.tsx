import { LogOut } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

/** Shows who is signed in, and with which role, if the server needs tokens. */
export function WhoAsks() {
  const { client, infoQuery, queries, tellError } = useServer()
  const { data } = useQuery(infoQuery)
  const caller = data?.caller
  if (!caller || caller.subject === 'local') return null

  async function leave(): Promise<void> {
    try {
      await client.closeSession()
      await queries.resetQueries()
    } catch (error) {
      tellError('You are still signed in.', error)
    }
  }

  return (
    <div className="flex h-11 shrink-0 items-center gap-2 border-t border-line pe-2 ps-4 text-xs">
      <span className="min-w-0 flex-1 truncate" title={caller.subject}>
        {caller.subject} <span className="text-ink-3">· {caller.role}</span>
      </span>
      <Tooltip text="Sign out">
        <Button icon aria-label="Sign out" onClick={() => void leave()}>
          <LogOut aria-hidden />
        </Button>
      </Tooltip>
    </div>
  )
}
