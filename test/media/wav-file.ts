/** A 440 Hz tone as 16-bit samples. */
export function tone(samples: number, rateHz: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, index) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * index) / rateHz)),
  );
}

/** One RIFF chunk, padded to an even length. `declaredSize` may be false. */
export function riffChunk(id: string, content: Buffer, declaredSize = content.length): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 0, 'latin1');
  header.writeUInt32LE(declaredSize, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length & 1)]);
}

/** A `fmt ` chunk. */
export function wavFormat(
  fields: {
    code?: number;
    channels?: number;
    rateHz?: number;
    bits?: number;
    blockAlign?: number;
  } = {},
): Buffer {
  const { code = 1, channels = 1, rateHz = 8_000, bits = 16 } = fields;
  const blockAlign = fields.blockAlign ?? channels * Math.ceil(bits / 8);
  const content = Buffer.alloc(16);
  content.writeUInt16LE(code, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rateHz, 4);
  content.writeUInt32LE((rateHz * blockAlign) >>> 0, 8);
  content.writeUInt16LE(blockAlign, 12);
  content.writeUInt16LE(bits, 14);
  return riffChunk('fmt ', content);
}

/** A WAV of these chunks. The outer size may be false. */
export function wavOf(
  chunks: readonly Buffer[],
  outer: { id?: string; size?: number } = {},
): Buffer {
  const content = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  const riff = riffChunk(outer.id ?? 'RIFF', content, outer.size);
  return riff.subarray(0, 8 + content.length);
}

/** Mono 16-bit samples as bytes; a tone by default. */
export function pcmBytes(samples: number, rateHz = 8_000): Buffer {
  return Buffer.from(tone(samples, rateHz).buffer);
}

/** A valid mono WAV of a tone: 16 bits, or 8 bits of silence if only the length matters. */
export function wavFile(samples: number, rateHz = 8_000, bits: 8 | 16 = 16): Buffer {
  const content = bits === 16 ? pcmBytes(samples, rateHz) : Buffer.alloc(samples, 0x80);
  return wavOf([wavFormat({ rateHz, bits }), riffChunk('data', content)]);
}
