import { StoreFailure } from '../../core/warehouse/stores/store.ts'
import { fatalMessage, StartError } from '../../core/errors.ts'

/** Reports of errors by programs. */

const failed = (code: string, message: string): Error => Object.assign(new Error(message), { code })

test.each([
  [new StartError('there is no catalog'), 'there is no catalog'],
  [
    failed('ENOSPC', 'ENOSPC: no space left on device, write'),
    'the disk is full: free some space, then run this again (ENOSPC: no space left on device, write)',
  ],
  [
    failed('EROFS', "EROFS: read-only file system, open 'w/d/t/current.json'"),
    "the file system is read-only: make it writable, then run this again (EROFS: read-only file system, open 'w/d/t/current.json')",
  ],
  [
    new StoreFailure('s3://b/x', failed('NoSuchBucket', 'The specified bucket does not exist')),
    'there is no such bucket: create it, or correct WAREHOUSE, then run this again (s3://b/x: NoSuchBucket: The specified bucket does not exist)',
  ],
  [
    new StoreFailure('s3://b/x', failed('SlowDown', 'Reduce your request rate')),
    's3://b/x: SlowDown: Reduce your request rate',
  ],
])('%s ends a program with one sentence', (error, sentence) => {
  expect(fatalMessage(error)).toBe(sentence)
})

test('a bug ends a program with its stack trace', () => {
  const bug = new TypeError('x is undefined')
  expect(fatalMessage(bug)).toBe(bug)
})
