import type { JsonObject } from '../../common/json-object.js';
import type { SealedPart } from './conversation.js';
import type { FinishReason } from './finish-reason.js';

/**
 * What a model says, piece by piece. Pieces of the same kind that follow each other belong together. A call of a tool is
 * `tool-call`, then its arguments, then `tool-end`; pieces of several calls may alternate, and `index` tells them apart.
 * Arguments are JSON text for a function, as the model wrote it: they may be no JSON.
 */
export type ChatPart =
  | {
      readonly type: 'text';
      readonly text: string;
      /** Of its tokens, in OpenAI's format. */
      readonly logprobs?: readonly JsonObject[] | undefined;
    }
  | { readonly type: 'reasoning'; readonly text: string }
  | ({ readonly type: 'reasoning-sealed' } & SealedPart)
  | { readonly type: 'refusal'; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly index: number;
      readonly id: string;
      readonly kind: 'function' | 'custom';
      readonly name: string;
      /** What the vendor wants back with the call in the next turn. */
      readonly sealed?: SealedPart | undefined;
    }
  | { readonly type: 'tool-arguments'; readonly index: number; readonly delta: string }
  | { readonly type: 'tool-end'; readonly index: number }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      /** The stop text at which the model stopped, where the vendor tells it. */
      readonly stopSequence?: string | undefined;
    };

/** The text of a part that the model made: it is counted where the vendor reports no usage. */
export function textOfPart(part: ChatPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return part.text;
    case 'tool-call':
      return part.name;
    case 'tool-arguments':
      return part.delta;
    case 'reasoning-sealed':
    case 'tool-end':
    case 'finish':
      return '';
  }
}
