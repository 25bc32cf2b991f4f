import { isDuration, signingKey, signToken } from '../server/auth/tokens.ts'
import { role as roles } from '../wire/server-info.ts'
import { DEFAULT_DATA, hasSecret, openFolder, signingSecret } from './data-folder.ts'
import { note, oneOf, parseOptions, UsageError } from './terminal.ts'

/** What `byref token --help` prints. */
export const HELP = `byref token: makes a token for a server that requires one (byref serve --auth)

  byref token [--role member] [--namespace TEAM] [--subject NAME] [--expires 30d] [--data ${DEFAULT_DATA}]

  --role       reader (reads), member (also sends, uploads and approves) or owner (also deletes,
               imports, and exports debug data)
  --namespace  the namespace of the conversations and assets; without it, those without a namespace
  --subject    who uses the token: the sender of messages, the reader of private values, and the
               name in limits and logs
  --expires    how long it is valid: 12h, 30d, 1y
  --data       folder of the server; its secret signs the token. BYREF_SECRET replaces that secret

Prints the token on stdout. Anyone who has it can use the server, so treat it like a password.
`

/** `byref token`: prints a token. */
export async function command(args: string[]): Promise<number> {
  const { values } = parseOptions('token', args, {
    most: 0,
    options: {
      role: { type: 'string', default: 'member' },
      namespace: { type: 'string' },
      subject: { type: 'string', default: 'user' },
      expires: { type: 'string', default: '30d' },
      data: { type: 'string', default: DEFAULT_DATA },
    },
  })
  const { subject, expires: expiresIn, namespace = null } = values
  const role = oneOf('--role', values.role, roles.options)
  if (!isDuration(expiresIn)) {
    throw new UsageError(`--expires takes a duration such as 12h or 30d, not "${expiresIn}"`)
  }
  const folder = openFolder(values.data)
  const isNew = !hasSecret(folder)
  const key = signingKey(signingSecret(folder))
  const token = await signToken(key, { subject, namespace, role, expiresIn })
  if (isNew) {
    note(`${folder} had no secret, so this is a new one: start the server with the same --data`)
  }
  process.stdout.write(`${token}\n`)
  return 0
}
