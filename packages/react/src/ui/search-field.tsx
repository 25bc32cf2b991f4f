import { Search, X } from 'lucide-react'
import { useRef } from 'react'
import { Button } from './button.tsx'

/** Properties of {@link SearchField}. */
export interface SearchFieldProps {
  label: string
  placeholder: string
  value: string
  onChange: (text: string) => void
}

/** Renders a search field. Escape clears it. */
export function SearchField({ label, placeholder, value, onChange }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <div className="relative">
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 inset-s-2 size-3.5 -translate-y-1/2 text-ink-3"
      />
      <input
        ref={field}
        type="search"
        dir="auto"
        data-own-escape={value !== '' || undefined}
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || value === '') return
          event.stopPropagation()
          onChange('')
        }}
        className="h-8 w-full rounded-md border border-line bg-surface pe-7 ps-7 text-sm placeholder:text-ink-3 max-md:text-[1rem] pointer-coarse:h-10 [&::-webkit-search-cancel-button]:hidden"
      />
      {value !== '' && (
        <Button
          icon
          aria-label="Clear search"
          onClick={() => {
            onChange('')
            field.current?.focus()
          }}
          className="absolute top-1/2 inset-e-1 size-6 -translate-y-1/2"
        >
          <X aria-hidden />
        </Button>
      )}
    </div>
  )
}
