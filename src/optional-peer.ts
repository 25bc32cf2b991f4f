import { ByrefError, errorMessage } from './core/errors.ts'

/** The packages that byref uses where an application has installed them, by the name they are imported by. */
export interface OptionalPeers {
  '@ai-sdk/anthropic': typeof import('@ai-sdk/anthropic')
  '@ai-sdk/google': typeof import('@ai-sdk/google')
  '@ai-sdk/openai': typeof import('@ai-sdk/openai')
  '@ai-sdk/openai-compatible': typeof import('@ai-sdk/openai-compatible')
  '@aws-sdk/client-s3': typeof import('@aws-sdk/client-s3')
  '@aws-sdk/lib-storage': typeof import('@aws-sdk/lib-storage')
  '@aws-sdk/s3-request-presigner': typeof import('@aws-sdk/s3-request-presigner')
  '@duckdb/node-api': typeof import('@duckdb/node-api')
  '@modelcontextprotocol/client': typeof import('@modelcontextprotocol/client')
  '@modelcontextprotocol/server': typeof import('@modelcontextprotocol/server')
  '@modelcontextprotocol/server/stdio': typeof import('@modelcontextprotocol/server/stdio')
  '@resvg/resvg-js': typeof import('@resvg/resvg-js')
  'apache-arrow': typeof import('apache-arrow')
  mammoth: typeof import('mammoth')
  pg: typeof import('pg')
  'pg-boss': typeof import('pg-boss')
  'read-excel-file/node': typeof import('read-excel-file/node')
  sharp: typeof import('sharp')
  unpdf: typeof import('unpdf')
}

/** A package that an application may leave out. */
export type OptionalPeer = keyof OptionalPeers

/**
 * Imports an optional peer. Bundlers cannot see which package it is: they leave it out, and do not fail where it is not
 * installed. It is resolved from this file, or from the bundle that this file became part of.
 *
 * @param purpose What needs the package, as the subject of a sentence: `Reading PDF files`
 * @throws ByrefError `dependency_missing`, which names the package to install
 */
export async function optionalPeer<Name extends OptionalPeer>(
  name: Name,
  purpose: string,
): Promise<OptionalPeers[Name]> {
  try {
    return await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name
    )
  } catch (cause) {
    throw new ByrefError('dependency_missing', missingPeer(name, purpose, cause), { cause })
  }
}

/** The sentence for a package that is missing, or that is there and cannot be loaded. */
export function missingPeer(name: OptionalPeer, purpose: string, cause?: unknown): string {
  const { package: installed } = /^(?<package>(?:@[^/]+\/)?[^/]+)/.exec(name)?.groups ?? {}
  const { code } = Object(cause) as { code?: unknown }
  const isMissing = cause === undefined || code === 'ERR_MODULE_NOT_FOUND'
  const why = isMissing ? 'is not installed' : `cannot be loaded (${errorMessage(cause)})`
  return `${purpose} needs the package ${installed}, which ${why}: npm install ${installed}`
}
