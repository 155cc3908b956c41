-- What operators and processes say about the routes of providers.
CREATE TABLE route_pause (
  provider text NOT NULL,
  upstream_model text NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, upstream_model)
);
COMMENT ON TABLE route_pause IS 'Routes that operators have paused. Every process reads them each second.';
COMMENT ON COLUMN route_pause.upstream_model IS 'The model at the provider; empty: all of the provider.';
COMMENT ON COLUMN route_pause.actor IS 'Who paused it, as in operator_action.';

CREATE TABLE route_report (
  process_id uuid PRIMARY KEY,
  reported_at timestamptz NOT NULL DEFAULT now(),
  figures jsonb NOT NULL
);
COMMENT ON TABLE route_report IS 'What each process has seen of providers in the last hour. A report that is not renewed says nothing any more.';
COMMENT ON COLUMN route_report.figures IS 'Providers with how many keys they have, outcomes and durations of attempts by route, and circuit breakers.';
