/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a `Range` header asks of a file (RFC 9110, 14.2). `whole` also where it asks for several ranges, for something else
 * than bytes, or for nothing that makes sense, as a server may; `outside` is to be answered 416.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ByteRange | 'whole' | 'outside' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'outside' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? Infinity : Number(to);
  if (last < first) return 'whole';
  return first < size ? { first, last: Math.min(last, size - 1) } : 'outside';
}
