import { newId } from 'byref'
import { redirect } from 'next/navigation'
import { connection } from 'next/server'

/** Each visit starts a chat. Its address continues it. */
export default async function NewChat() {
  await connection()
  redirect(`/chat/${newId()}`)
}
