import { type ClassValue, clsx } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Joins class names. A later one overrides an earlier one for the same property. */
export function cn(...values: ClassValue[]): string {
  return twMerge(clsx(values))
}
