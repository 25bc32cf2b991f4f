import { useState } from 'react'

/** A number that the browser keeps under this key. */
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
        // Without storage the size lasts as long as the page.
      }
    },
  ]
}
