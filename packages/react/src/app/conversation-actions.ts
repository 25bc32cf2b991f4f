import { useNavigate } from '@tanstack/react-router'
import { tellError } from '../ui/toasts.tsx'
import { client, forgetConversations } from './client.ts'

/** Renames a conversation. An empty title restores its own. */
export async function renameConversation(id: string, title: string): Promise<void> {
  try {
    await client.renameConversation(id, title.trim() || null)
  } catch (error) {
    tellError('The conversation was not renamed.', error)
  }
  forgetConversations()
}

/** Lets the browser download the export, under the name that the server gives it. */
export function exportConversation(id: string): void {
  const link = document.createElement('a')
  link.href = `/api/conversations/${encodeURIComponent(id)}/export`
  link.download = ''
  link.click()
}

/** Returns a function that forks a conversation and opens the fork. */
export function useForkConversation(): (id: string) => Promise<void> {
  const navigate = useNavigate()
  return async (id) => {
    try {
      const made = await client.forkConversation(id)
      forgetConversations()
      await navigate({ to: '/c/$conversationId', params: { conversationId: made.id } })
    } catch (error) {
      tellError('The conversation was not forked.', error)
    }
  }
}
