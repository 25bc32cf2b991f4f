/**
 * Lines that start like a block of ours: a data block's heading or its schema line, the metas' heading, an
 * attachment's marker, what the system says in between. White space and invisible characters before them hide nothing.
 */
const FORGED =
  /(?:^|[\v\f\x85])[\t\p{Zs}\p{Cf}]*(?=#{1,6}[\t\p{Zs}]*(?:Data[\t\p{Zs}]*:[\t\p{Zs}]*¶|Assets\b)|Schema for ¶|\[Attached\b|\[Message from the system\b)/gimu

/**
 * Text from users, tools and assets as it enters a prompt: a line that starts like one of our own blocks
 * gets a backslash in front, so nobody forges one. All other text is itself. Linear.
 */
export function escapeBlocks(text: string): string {
  return text.replace(FORGED, '$&\\')
}
