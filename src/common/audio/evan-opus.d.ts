/** The WebAssembly build of `@evan/opus`, which ships types for its native entry only. */
declare module '@evan/opus/wasm/index.mjs' {
  interface OpusOptions {
    readonly channels: 1 | 2;
    readonly sample_rate: number;
    readonly application?: 'voip' | 'audio' | 'restricted_lowdelay';
  }
  export class Encoder {
    constructor(options: OpusOptions);
    /** Sets a control of the encoder (see opus_defines.h); reads it when no value is given. */
    ctl(request: number, value?: number): number;
    encode(samples: Int16Array): Uint8Array;
    /** Frees the encoder's memory. */
    drop(): void;
  }
  export class Decoder {
    constructor(options: Omit<OpusOptions, 'application'>);
    /** Decodes one packet to interleaved 16-bit samples, as bytes. */
    decode(packet: Uint8Array): Uint8Array;
    drop(): void;
  }
}
