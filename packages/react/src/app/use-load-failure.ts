import { useEffect, useState } from 'react'
import { useConnection } from './conversation-context.tsx'

/**
 * Returns whether the browser could not show media at this URL, and the function that says so. They are tried again when
 * the connection of the conversation is back.
 */
export function useLoadFailure(url: string): [boolean, () => void] {
  const { status } = useConnection()
  const [failed, setFailed] = useState<string | null>(null)
  useEffect(() => {
    if (status === 'live') setFailed(null)
  }, [status])
  return [failed === url, () => setFailed(url)]
}
