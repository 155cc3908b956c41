CREATE TABLE operator_action (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor text NOT NULL,
  action text NOT NULL,
  target text,
  address text,
  at timestamptz NOT NULL,
  person text,
  role text,
  reason text,
  issuer text,
  subject text
);
COMMENT ON TABLE operator_action IS 'What operators asked to change. Rows are written once and never changed.';
COMMENT ON COLUMN operator_action.action IS 'The name of the command that does it. Version 0.1.0 wrote method and path where the operator API was used.';
COMMENT ON COLUMN operator_action.target IS 'The public id of what was to be changed.';
COMMENT ON COLUMN operator_action.address IS 'The network address that asked.';
COMMENT ON COLUMN operator_action.person IS 'Who asked, by the name that the identity provider told; null: a token or a key did.';
COMMENT ON COLUMN operator_action.role IS 'The role in which an operator asked; null where a key or the command line did.';
COMMENT ON COLUMN operator_action.reason IS 'Why, as the person said in the console.';
COMMENT ON COLUMN operator_action.issuer IS 'The identity provider that let the operator in; null: a token or a key did.';
COMMENT ON COLUMN operator_action.subject IS 'Who the operator is there, which stays when the name changes.';

-- A table of its own, because the rows of actions are never changed.
CREATE TABLE operator_outcome (
  action_id bigint PRIMARY KEY REFERENCES operator_action,
  outcome text NOT NULL,
  made text,
  amount bigint,
  values_before json,
  values_after json
);
COMMENT ON TABLE operator_outcome IS 'What came of the actions of operators.';
COMMENT ON COLUMN operator_outcome.made IS 'The public id of what the action made.';
COMMENT ON COLUMN operator_outcome.values_before IS 'The fields that the action changed, as the operator API showed them before it; null where there is nothing to show.';
COMMENT ON COLUMN operator_outcome.values_after IS 'The same fields afterwards, or those of what it made.';

CREATE TABLE sealing_key (
  key_id text PRIMARY KEY,
  check_value text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE sealing_key IS 'The secret keys that processes of this database have had.';
COMMENT ON COLUMN sealing_key.check_value IS 'A text that the key has sealed, by which a start knows whether its list has the key.';
