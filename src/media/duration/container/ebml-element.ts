import { unsupportedMedia } from '../unsupported-media.error.js';

/** One EBML element (RFC 8794). Its content is `bytes[at, end)`. An element of unknown size ends with its parent. */
export interface EbmlElement {
  readonly id: number;
  readonly at: number;
  readonly end: number;
  readonly hasKnownSize: boolean;
}

/** A variable-length number and the place after it. `marker` keeps the length bit, as in identifiers. */
export function readVint(
  bytes: Buffer,
  at: number,
  marker: 'keep' | 'drop',
): { value: number; end: number; isUnknown: boolean } {
  const first = bytes.readUInt8(at);
  const length = Math.clz32(first) - 23;
  if (length > 8) throw unsupportedMedia('its structure is broken');
  let value = marker === 'keep' ? first : first & (0xff >> length);
  let isUnknown = (first & (0xff >> length)) === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    const next = bytes.readUInt8(at + index);
    isUnknown &&= next === 0xff;
    value = value * 256 + next;
  }
  return { value, end: at + length, isUnknown };
}

/** The element at `at`; throws `unsupported_audio_format` when it does not fit before `end`. */
export function readElement(bytes: Buffer, at: number, end: number): EbmlElement {
  const id = readVint(bytes, at, 'keep');
  const size = readVint(bytes, id.end, 'drop');
  const contentEnd = size.isUnknown ? end : size.end + size.value;
  if (contentEnd > end) throw unsupportedMedia('it is cut off');
  return { id: id.value, at: size.end, end: contentEnd, hasKnownSize: !size.isUnknown };
}

/** The direct children of an element of known size. */
export function* children(bytes: Buffer, parent: EbmlElement): Generator<EbmlElement> {
  for (let at = parent.at; at < parent.end;) {
    const child = readElement(bytes, at, parent.end);
    yield child;
    at = child.end;
  }
}

/** The value of an unsigned integer. Above 2^53 it loses precision, which no use of it needs. */
export function readUnsigned(bytes: Buffer, element: EbmlElement): number {
  let value = 0;
  for (let at = element.at; at < element.end; at += 1) value = value * 256 + bytes.readUInt8(at);
  return value;
}
