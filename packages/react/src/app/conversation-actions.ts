import type { Client } from 'byref/client'
import { useNavigation } from './navigation.tsx'
import { useServer } from './server.ts'

/** Returns a function that renames a conversation. An empty title restores its own. */
export function useRenameConversation(): (id: string, title: string) => Promise<void> {
  const { client, forgetConversations, tellError } = useServer()
  return async (id, title) => {
    try {
      await client.renameConversation(id, title.trim() || null)
    } catch (error) {
      tellError('The conversation was not renamed.', error)
    }
    forgetConversations()
  }
}

/** Returns a function that lets the browser download the export, under the name that the server gives it. */
export function useExportConversation(): (id: string) => void {
  const { client } = useServer()
  return (id) => {
    const link = document.createElement('a')
    link.href = `${client.url}/api/conversations/${encodeURIComponent(id)}/export`
    link.download = ''
    link.click()
  }
}

/** Returns a function that opens a conversation that was just made, such as a fork. */
export function useOpenNew(): (id: string, hash?: string) => Promise<void> {
  const { forgetConversations } = useServer()
  const { openConversation } = useNavigation()
  return async (id, hash) => {
    forgetConversations()
    await openConversation(id, hash)
  }
}

/** Returns a function that sends a message again in another version of the conversation, and opens that version. */
export function useRetry(): (...message: Parameters<Client['retry']>) => Promise<void> {
  const { client } = useServer()
  const openNew = useOpenNew()
  return async (...message) => openNew((await client.retry(...message)).conversation)
}

/** Returns a function that forks a conversation and opens the fork. */
export function useForkConversation(): (id: string) => Promise<void> {
  const { client, tellError } = useServer()
  const openNew = useOpenNew()
  return async (id) => {
    try {
      await openNew((await client.forkConversation(id)).id)
    } catch (error) {
      tellError('The conversation was not forked.', error)
    }
  }
}
