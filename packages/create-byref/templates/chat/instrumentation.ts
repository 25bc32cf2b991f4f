/** Runs when the server starts: runs that a crash or a restart interrupted continue. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { getAgent } = await import('./lib/agent')
  await getAgent().resumeAll()
}
