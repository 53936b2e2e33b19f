import type { MaskName } from '../../core/catalog/names.ts'

interface MaskRow {
  /** Hides the personal part; null for an unknown form, which must not be shown. */
  readonly hide: (text: string) => string | null
  readonly expects: string
}

/** Masks hide personal identifiers before anything is written. */
export const masks: Readonly<Record<MaskName, MaskRow>> = {
  cpf: {
    hide: (text) => {
      // Already hidden, or the number of a company, which is public.
      if (
        /^\*{3}\.?\d{3}\.?\d{3}-?\*{2}$/.test(text) ||
        /^(\d{14}|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2})$/.test(text)
      ) {
        return text
      }
      if (!/^(\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/.test(text)) return null
      const digits = text.replaceAll(/\D/g, '')
      return `***${digits.slice(3, 9)}**`
    },
    expects:
      'a CPF (11 digits, or 000.000.000-00), a masked CPF or a CNPJ; the value is not shown, since it may be personal',
  },
}
