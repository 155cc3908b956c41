import type { Operation } from '../providers/ports/provider-ports.js';
import type { Route, UpstreamTerms } from '../providers/ports/attempt.js';
import type { SongShape } from './song-shape.js';
import type {
  PerCodePoint,
  PerMeasuredSecond,
  PerRequest,
  PerRequestedSecond,
  PerToken,
  PerVideo,
  PriceRule,
} from './price-rule.js';

interface Row<O extends Operation, P extends PriceRule, L> {
  readonly id: string;
  readonly operation: O;
  /** In order of preference. */
  readonly routes: readonly Route[];
  readonly price: P;
  readonly limits: L;
  /** How what is sent for the model differs from its protocol's habit. */
  readonly terms?: UpstreamTerms;
  /** Further names that callers may use; records name the id. */
  readonly aliases?: readonly string[];
  /** A disabled model is in no list, and requests for it find no model. */
  readonly enabled: boolean;
}

/** Bounds of media length, inclusive, in whole seconds or microseconds (decision G-19). */
export interface MediaLimits {
  readonly maxSeconds: number;
  readonly minMicros?: number;
}

/** The limits of a row, by operation. Text lengths are Unicode code points. */
export interface ModelRows {
  chat: Row<
    'chat',
    PerToken,
    {
      readonly maxOutputTokens: number;
      /** Tokens of prompt and completion together, where they are known. */
      readonly contextLength?: number;
    }
  > & {
    /** Whether the model uses hidden reasoning tokens, which only its usage tells (decision G-24). */
    readonly hiddenReasoning: boolean;
  };
  image: Row<'image', PerRequest, { readonly sizes: readonly string[] }>;
  video: Row<
    'video',
    PerVideo,
    {
      readonly sizePattern?: string;
      readonly aspectRatios?: readonly string[];
      readonly maxImageUrls: number;
    }
  >;
  speech: Row<'speech', PerCodePoint, { readonly maxInput: number }>;
  dialogue: Row<'dialogue', PerCodePoint, { readonly maxInput: number }>;
  transcription: Row<'transcription', PerMeasuredSecond, MediaLimits>;
  alignment: Row<'alignment', PerMeasuredSecond, MediaLimits>;
  'voice-change': Row<'voice-change', PerMeasuredSecond, MediaLimits>;
  isolation: Row<'isolation', PerMeasuredSecond, MediaLimits>;
  'sound-effect': Row<'sound-effect', PerRequestedSecond, Record<string, never>>;
  composition: Row<'composition', PerRequestedSecond, Record<string, never>>;
  dubbing: Row<'dubbing', PerMeasuredSecond, MediaLimits>;
  /** `shape` names the fields of the body, so a new song model needs only one more row. */
  song: Row<
    'song',
    PerRequest,
    {
      readonly shape: SongShape;
      /** The stems that the model knows, where an operator has listed them. */
      readonly stemTypes?: readonly string[];
    }
  >;
}

/** The row of one operation; without a type argument, any row. */
export type ModelRow<O extends Operation = Operation> = ModelRows[O] & { readonly operation: O };
