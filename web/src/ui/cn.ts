import { type ClassValue, clsx } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Class names, of which a later one wins over an earlier one for the same property. */
export function cn(...values: ClassValue[]): string {
  return twMerge(clsx(values))
}
