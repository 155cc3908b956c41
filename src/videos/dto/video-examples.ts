import { ApiBody } from '@nestjs/swagger';
import { VideoBody } from './video.body.js';

/** One body per family in Swagger, because families accept different fields. */
const EXAMPLES: Readonly<Record<string, { readonly value: VideoBody }>> = {
  'by aspect ratio': {
    value: {
      model: 'vid-motion',
      prompt: 'Waves roll slowly towards a lighthouse at dusk',
      seconds: '5',
      aspect_ratio: '16:9',
    },
  },
  'by size': {
    value: {
      model: 'vid-omni',
      prompt: 'Waves roll slowly towards a lighthouse at dusk',
      seconds: '10',
      size: '1280x720',
    },
  },
};

/** Documents the body with its examples. */
export function VideoBodyExamples(): MethodDecorator {
  return ApiBody({ type: VideoBody, examples: { ...EXAMPLES } });
}
