import { unsupportedMedia } from '../unsupported-media.error.js';

const STREAM = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
const DECODER_CONFIG_BYTES = 13;
const STREAM_FLAGS_AT = 2;
const LENGTH_BYTES_MAX = 4;

interface Descriptor {
  readonly tag: number;
  readonly content: Buffer;
  readonly rest: Buffer;
}

/** The codec (object type indication) and its setup from an elementary stream descriptor (ISO 14496-1 §7.2.6). */
export function readDecoderConfig(esds: Buffer): { objectType: number; config: Buffer } {
  const stream = find(esds, STREAM);
  const flags = stream.readUInt8(STREAM_FLAGS_AT);
  let at = STREAM_FLAGS_AT + 1;
  if ((flags & 0x80) !== 0) at += 2;
  if ((flags & 0x40) !== 0) at += 1 + stream.readUInt8(at);
  if ((flags & 0x20) !== 0) at += 2;
  const decoder = find(stream.subarray(at), DECODER_CONFIG);
  const objectType = decoder.readUInt8(0);
  const specific = decoder.subarray(DECODER_CONFIG_BYTES);
  return {
    objectType,
    config: specific.length === 0 ? Buffer.alloc(0) : find(specific, DECODER_SPECIFIC),
  };
}

function find(bytes: Buffer, tag: number): Buffer {
  for (let rest = bytes; rest.length > 1;) {
    const descriptor = readDescriptor(rest);
    if (descriptor.tag === tag) return descriptor.content;
    rest = descriptor.rest;
  }
  throw unsupportedMedia('its codec setup is broken');
}

function readDescriptor(bytes: Buffer): Descriptor {
  let length = 0;
  let at = 1;
  for (let isMore = true; isMore && at <= LENGTH_BYTES_MAX; at += 1) {
    const part = bytes.readUInt8(at);
    length = length * 128 + (part & 127);
    isMore = (part & 128) !== 0;
  }
  return {
    tag: bytes.readUInt8(0),
    content: bytes.subarray(at, at + length),
    rest: bytes.subarray(at + length),
  };
}
