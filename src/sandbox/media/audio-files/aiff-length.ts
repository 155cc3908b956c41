/** Seconds of an AIFF or AIFC file by its COMM chunk (frames and an 80-bit rate); undefined for anything else. */
export function aiffSeconds(file: Buffer): number | undefined {
  if (file.toString('latin1', 0, 4) !== 'FORM') return undefined;
  if (!['AIFF', 'AIFC'].includes(file.toString('latin1', 8, 12))) return undefined;
  for (let at = 12; at + 8 <= file.length;) {
    const size = file.readUInt32BE(at + 4);
    if (file.toString('latin1', at, at + 4) === 'COMM' && at + 26 <= file.length) {
      const frames = file.readUInt32BE(at + 10);
      const exponent = file.readUInt16BE(at + 16) - 16_383 - 31;
      const rate = file.readUInt32BE(at + 18) * 2 ** exponent;
      return rate > 0 ? frames / rate : undefined;
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}
