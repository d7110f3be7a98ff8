import { expect, it } from 'vitest'
import { parseToc } from '../../../storage/sstable/toc.ts'

it('lists component names, whatever the line ends', () => {
  expect([...parseToc('Data.db\nIndex.db\r\n\n  TOC.txt  \nSAI+aa+Meta.db')]).toEqual([
    'Data.db',
    'Index.db',
    'TOC.txt',
    'SAI+aa+Meta.db',
  ])
  expect(parseToc('').size).toBe(0)
})
