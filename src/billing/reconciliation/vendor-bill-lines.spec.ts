import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { billLinesOf } from './vendor-bill-lines.js';

async function read(text: string | Buffer, chunkBytes = 7): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const lines: unknown[] = [];
  for await (const line of billLinesOf(chunks())) lines.push(line);
  return lines;
}

describe("the lines of a vendor's bill", () => {
  it('are read with names or without, quoted or not, with further columns, whatever ends them', async () => {
    const text = '\uFEFFrequest id,amount\r\nreq_1,0.0012\r\n"req ""2""","1.5",USD,x\n\nréq_3,-2';
    expect(await read(text)).toEqual([
      { line: 2, requestId: 'req_1', amount: '0.0012' },
      { line: 3, requestId: 'req "2"', amount: '1.5' },
      { line: 5, requestId: 'réq_3', amount: '-2' },
    ]);
    expect(await read('req_1,1')).toEqual([{ line: 1, requestId: 'req_1', amount: '1' }]);
  });

  it.each([
    ['req_1', 'has no request id before an amount'],
    [',1', 'has no request id before an amount'],
    ['req_1,', 'has no amount in USD, such as 0.0012'],
    ['req_1,1e5', 'has no amount in USD, such as 0.0012'],
    ['req_1,"1,5"', 'has no amount in USD, such as 0.0012'],
    ['req_1,12345678901', 'has no amount in USD, such as 0.0012'],
    ['"req_1,1', 'has no request id before an amount'],
    ['r\0q,1', 'has a request id with a NUL character'],
    [`${'r'.repeat(201)},1`, 'has a request id of more than 200 characters'],
    ['r'.repeat(10_001), 'has more than 10000 characters'],
    [' '.repeat(9_000) + 'x', 'has no request id before an amount'],
  ])('are named where they are bad: line %#', async (text, says) => {
    expect(await read(`a,1\n${text}\nb,2`, 1_000)).toEqual([
      { line: 1, requestId: 'a', amount: '1' },
      { line: 2, says },
      { line: 3, requestId: 'b', amount: '2' },
    ]);
  });

  it('are the same however the bytes are cut', async () => {
    const line = fc.tuple(fc.constantFrom('é', 'a"b', 'req,1', '日本'), fc.nat(10 ** 9));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
        const text = lines.map(([id, amount]) => `"${id.replaceAll('"', '""')}",${amount}\r\n`);
        const wanted = lines.map(([requestId, amount], index) => {
          return { line: index + 1, requestId, amount: `${amount}` };
        });
        expect(await read(text.join(''), size)).toEqual(wanted);
      }),
    );
  });
});
