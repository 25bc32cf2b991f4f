/**
 * Matches lines that start like one of byref's own blocks: a data block's heading or schema line, the heading
 * of the metas, an attachment's marker, a system message. It ignores white space and invisible characters
 * before them.
 */
const FORGED =
  /(?:^|[\v\f\x85])[\t\p{Zs}\p{Cf}]*(?=#{1,6}[\t\p{Zs}]*(?:Data[\t\p{Zs}]*:[\t\p{Zs}]*¶|Assets\b)|Schema for ¶|\[Attached\b|\[Message from the system\b)/gimu

/**
 * Escapes text from users, tools and assets for a prompt. A line that starts like one of byref's own blocks
 * gets a backslash in front, so that nobody can forge a block. All other text stays unchanged. Takes linear
 * time.
 */
export function escapeBlocks(text: string): string {
  return text.replace(FORGED, '$&\\')
}
