import { GatewayError } from '../../common/errors/gateway-error.js';

/**
 * The error for media whose duration is uncertain. `reason` is public and names the defect, never the content (decision
 * G-44).
 */
export function unsupportedMedia(reason: string): GatewayError {
  return new GatewayError(
    'unsupported_audio_format',
    `The media format is unsupported or its length is unreadable: ${reason}.`,
  );
}
