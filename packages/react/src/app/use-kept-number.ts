import { useState } from 'react'

/** Returns a number that the browser saves under this key, and its setter. */
export function useKeptNumber(key: string, initial: number): [number, (value: number) => void] {
  const [value, setValue] = useState(() => {
    try {
      return Number(localStorage.getItem(key)) || initial
    } catch {
      return initial
    }
  })
  return [
    value,
    (next) => {
      setValue(next)
      try {
        localStorage.setItem(key, String(next))
      } catch {
        // Without storage, the size lasts until the page is closed.
      }
    },
  ]
}
