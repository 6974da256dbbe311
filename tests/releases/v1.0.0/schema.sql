-- revision 0001
CREATE TABLE api_tokens (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	prefix VARCHAR(16) NOT NULL, 
	scopes VARCHAR(64) DEFAULT 'read submit' NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	last_used_at DATETIME, 
	CONSTRAINT pk_api_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_api_tokens_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_api_tokens_token_hash UNIQUE (token_hash)
);
CREATE TABLE artifacts (
	digest VARCHAR(64) NOT NULL, 
	data BLOB NOT NULL, 
	last_built_at DATETIME NOT NULL, 
	CONSTRAINT pk_artifacts PRIMARY KEY (digest)
);
CREATE TABLE assembly_requests (
	submission_id INTEGER NOT NULL, 
	arch VARCHAR(16) NOT NULL, 
	asked_at DATETIME NOT NULL, 
	failures INTEGER NOT NULL, 
	lease_token VARCHAR(32), 
	lease_until DATETIME, 
	ended_at DATETIME, 
	problem TEXT, 
	content BLOB, 
	CONSTRAINT pk_assembly_requests PRIMARY KEY (submission_id, arch), 
	CONSTRAINT fk_assembly_requests_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE assignment_challenges (
	assignment_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	position INTEGER NOT NULL, 
	CONSTRAINT pk_assignment_challenges PRIMARY KEY (assignment_id, challenge), 
	CONSTRAINT fk_assignment_challenges_assignment_id_assignments FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE
);
CREATE TABLE assignment_extensions (
	assignment_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	due_at DATETIME NOT NULL, 
	CONSTRAINT pk_assignment_extensions PRIMARY KEY (assignment_id, user_id), 
	CONSTRAINT fk_assignment_extensions_assignment_id_assignments FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_assignment_extensions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE assignments (
	id INTEGER NOT NULL, 
	class_id INTEGER NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	opens_at DATETIME NOT NULL, 
	due_at DATETIME NOT NULL, 
	counts VARCHAR(16) NOT NULL, 
	least_percent INTEGER NOT NULL, 
	points DOUBLE DEFAULT '100' NOT NULL, 
	weight DOUBLE DEFAULT '1' NOT NULL, 
	accepted_percent INTEGER DEFAULT '0' NOT NULL, 
	late_percent INTEGER DEFAULT '100' NOT NULL, 
	taken VARCHAR(8) DEFAULT 'best' NOT NULL, 
	device_key VARCHAR(100), 
	shows_hints BOOLEAN NOT NULL, 
	closes_solutions BOOLEAN DEFAULT 1 NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_assignments PRIMARY KEY (id), 
	CONSTRAINT fk_assignments_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE
);
CREATE TABLE audit_jobs (
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	contest_id BIGINT DEFAULT '0' NOT NULL, 
	wanted BOOLEAN NOT NULL, 
	failures INTEGER NOT NULL, 
	last_error TEXT, 
	lease_token VARCHAR(64), 
	lease_owner VARCHAR(200), 
	lease_until DATETIME, 
	available_at DATETIME NOT NULL, 
	card VARCHAR(64), 
	CONSTRAINT pk_audit_jobs PRIMARY KEY (challenge, device_key, pack_major, contest_id)
);
CREATE TABLE audits (
	submission_id INTEGER NOT NULL, 
	verdict VARCHAR(4) NOT NULL, 
	message TEXT NOT NULL, 
	measurement JSON, 
	contenders INTEGER NOT NULL, 
	audited_at DATETIME NOT NULL, 
	CONSTRAINT pk_audits PRIMARY KEY (submission_id), 
	CONSTRAINT fk_audits_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE best_results (
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	metric VARCHAR(32) NOT NULL, 
	user_id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	value DOUBLE NOT NULL, 
	low DOUBLE NOT NULL, 
	high DOUBLE NOT NULL, 
	roofline_share DOUBLE, 
	created_at DATETIME NOT NULL, 
	card VARCHAR(64), 
	CONSTRAINT pk_best_results PRIMARY KEY (challenge, device_key, pack_major, metric, user_id), 
	CONSTRAINT fk_best_results_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_best_results_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE board_totals (
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	metric VARCHAR(32) NOT NULL, 
	users INTEGER NOT NULL, 
	best_value DOUBLE NOT NULL, 
	latest_submission_id BIGINT NOT NULL, 
	has_rechecks BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_board_totals PRIMARY KEY (challenge, device_key, pack_major, metric)
);
CREATE TABLE builds (
	"key" VARCHAR(64) NOT NULL, 
	report BLOB NOT NULL, 
	artifact_digest VARCHAR(64), 
	built_at DATETIME NOT NULL, 
	CONSTRAINT pk_builds PRIMARY KEY ("key"), 
	CONSTRAINT fk_builds_artifact_digest_artifacts FOREIGN KEY(artifact_digest) REFERENCES artifacts (digest) ON DELETE CASCADE
);
CREATE TABLE card_times (
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	kernel VARCHAR(100) NOT NULL, 
	card VARCHAR(64) NOT NULL, 
	value DOUBLE, 
	low DOUBLE, 
	high DOUBLE, 
	measured_at DATETIME NOT NULL, 
	CONSTRAINT pk_card_times PRIMARY KEY (challenge, device_key, pack_major, kernel, card)
);
CREATE TABLE challenge_totals (
	challenge VARCHAR(100) NOT NULL, 
	judged INTEGER NOT NULL, 
	accepted INTEGER NOT NULL, 
	solvers INTEGER NOT NULL, 
	CONSTRAINT pk_challenge_totals PRIMARY KEY (challenge)
);
CREATE TABLE changed_settings (
	name VARCHAR(64) NOT NULL, 
	value JSON NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_changed_settings PRIMARY KEY (name)
);
CREATE TABLE class_members (
	class_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	known_as VARCHAR(100) NOT NULL, 
	joined_at DATETIME NOT NULL, 
	CONSTRAINT pk_class_members PRIMARY KEY (class_id, user_id), 
	CONSTRAINT fk_class_members_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE, 
	CONSTRAINT fk_class_members_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE class_staff (
	class_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	section VARCHAR(100) NOT NULL, 
	CONSTRAINT pk_class_staff PRIMARY KEY (class_id, user_id), 
	CONSTRAINT fk_class_staff_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE, 
	CONSTRAINT fk_class_staff_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE classes (
	id INTEGER NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	description TEXT NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	owner_id INTEGER, 
	drops INTEGER DEFAULT '0' NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_classes PRIMARY KEY (id), 
	CONSTRAINT fk_classes_owner_id_users FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT uq_classes_code UNIQUE (code)
);
CREATE TABLE contest_audits (
	contest_id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	verdict VARCHAR(4) NOT NULL, 
	value_before DOUBLE NOT NULL, 
	value DOUBLE, 
	not_audited TEXT, 
	contenders INTEGER NOT NULL, 
	audited_at DATETIME NOT NULL, 
	CONSTRAINT pk_contest_audits PRIMARY KEY (contest_id, submission_id), 
	CONSTRAINT fk_contest_audits_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE, 
	CONSTRAINT fk_contest_audits_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE contest_challenges (
	contest_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	position INTEGER NOT NULL, 
	target_s DOUBLE, 
	CONSTRAINT pk_contest_challenges PRIMARY KEY (contest_id, challenge), 
	CONSTRAINT fk_contest_challenges_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE
);
CREATE TABLE contest_members (
	contest_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	team_id INTEGER, 
	joined_at DATETIME NOT NULL, 
	CONSTRAINT pk_contest_members PRIMARY KEY (contest_id, user_id), 
	CONSTRAINT fk_contest_members_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE, 
	CONSTRAINT fk_contest_members_team_id_contest_teams FOREIGN KEY(team_id) REFERENCES contest_teams (id) ON DELETE SET NULL, 
	CONSTRAINT fk_contest_members_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE contest_teams (
	id INTEGER NOT NULL, 
	contest_id INTEGER NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	name_key VARCHAR(80) NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_contest_teams PRIMARY KEY (id), 
	CONSTRAINT fk_contest_teams_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE, 
	CONSTRAINT uq_contest_teams_contest_id_name_key UNIQUE (contest_id, name_key)
);
CREATE TABLE contests (
	id INTEGER NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	description TEXT NOT NULL, 
	starts_at DATETIME NOT NULL, 
	ends_at DATETIME NOT NULL, 
	frozen_at DATETIME, 
	revealed BOOLEAN NOT NULL, 
	scoring VARCHAR(16) NOT NULL, 
	devices TEXT NOT NULL, 
	team_size INTEGER, 
	code VARCHAR(64), 
	opens_sources BOOLEAN NOT NULL, 
	closes_solutions BOOLEAN DEFAULT 1 NOT NULL, 
	webhook_url VARCHAR(500), 
	webhook_secret VARCHAR(64), 
	owner_id INTEGER, 
	created_at DATETIME NOT NULL, 
	settled_at DATETIME, 
	hides_challenges BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_contests PRIMARY KEY (id), 
	CONSTRAINT fk_contests_owner_id_users FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT uq_contests_slug UNIQUE (slug)
);
CREATE TABLE device_boards (
	device_key VARCHAR(100) NOT NULL, 
	board VARCHAR(64) NOT NULL, 
	driver VARCHAR(64) NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	problem TEXT, 
	problem_since DATETIME, 
	CONSTRAINT pk_device_boards PRIMARY KEY (device_key, board), 
	CONSTRAINT fk_device_boards_device_key_devices FOREIGN KEY(device_key) REFERENCES devices ("key") ON DELETE CASCADE
);
CREATE TABLE device_calibrations (
	id INTEGER NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	board VARCHAR(64) NOT NULL, 
	measured_at DATETIME NOT NULL, 
	driver VARCHAR(64) NOT NULL, 
	read_bytes_per_s DOUBLE NOT NULL, 
	copy_bytes_per_s DOUBLE NOT NULL, 
	rates JSON NOT NULL, 
	CONSTRAINT pk_device_calibrations PRIMARY KEY (id), 
	CONSTRAINT fk_device_calibrations_device_key_devices FOREIGN KEY(device_key) REFERENCES devices ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_device_calibrations_device_key_board_measured_at UNIQUE (device_key, board, measured_at)
);
CREATE TABLE devices (
	"key" VARCHAR(100) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	compute_capability VARCHAR(16) NOT NULL, 
	details JSON NOT NULL, 
	first_seen_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	judging_s DOUBLE, 
	held VARCHAR(300), 
	CONSTRAINT pk_devices PRIMARY KEY ("key")
);
CREATE TABLE draft_assemblies (
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	pack_digest VARCHAR(64) NOT NULL, 
	language VARCHAR(32) NOT NULL, 
	arch VARCHAR(16) NOT NULL, 
	source_bytes BLOB NOT NULL, 
	asked_at DATETIME NOT NULL, 
	lease_token VARCHAR(32), 
	lease_until DATETIME, 
	ended_at DATETIME, 
	problem TEXT, 
	content BLOB, 
	CONSTRAINT pk_draft_assemblies PRIMARY KEY (user_id, challenge), 
	CONSTRAINT fk_draft_assemblies_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE drafts (
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	version INTEGER NOT NULL, 
	language VARCHAR(32) DEFAULT 'cuda' NOT NULL, 
	source_bytes BLOB NOT NULL, 
	begun_at DATETIME NOT NULL, 
	saved_at DATETIME NOT NULL, 
	CONSTRAINT pk_drafts PRIMARY KEY (user_id, challenge, version), 
	CONSTRAINT fk_drafts_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE duties (
	name VARCHAR(32) NOT NULL, 
	done_at DATETIME NOT NULL, 
	done_by VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_duties PRIMARY KEY (name)
);
CREATE TABLE earlier_judgements (
	submission_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	verdict VARCHAR(4) NOT NULL, 
	pack_version VARCHAR(40) NOT NULL, 
	judgement JSON NOT NULL, 
	finished_at DATETIME NOT NULL, 
	replaced_at DATETIME NOT NULL, 
	reason VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_earlier_judgements PRIMARY KEY (submission_id, number), 
	CONSTRAINT fk_earlier_judgements_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE events (
	submission_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	payload JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (submission_id, seq), 
	CONSTRAINT fk_events_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE given_up (
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	given_up_at DATETIME NOT NULL, 
	CONSTRAINT pk_given_up PRIMARY KEY (user_id, challenge), 
	CONSTRAINT fk_given_up_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE identities (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	issuer VARCHAR(255) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_identities PRIMARY KEY (id), 
	CONSTRAINT fk_identities_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_identities_issuer_subject UNIQUE (issuer, subject)
);
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	is_run BOOLEAN DEFAULT 0 NOT NULL, 
	turn INTEGER DEFAULT '0' NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	failures INTEGER NOT NULL, 
	losses INTEGER DEFAULT '0' NOT NULL, 
	last_error TEXT, 
	lease_token VARCHAR(64), 
	lease_owner VARCHAR(200), 
	lease_until DATETIME, 
	cancel_requested BOOLEAN DEFAULT 0 NOT NULL, 
	available_at DATETIME NOT NULL, 
	rung_at DATETIME NOT NULL, 
	artifact_digest VARCHAR(64), 
	pack_digest VARCHAR(64), 
	build_report JSON, 
	traceparent VARCHAR(64), 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_jobs_artifact_digest_artifacts FOREIGN KEY(artifact_digest) REFERENCES artifacts (digest), 
	CONSTRAINT fk_jobs_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_jobs_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_jobs_submission_id UNIQUE (submission_id)
);
CREATE TABLE library_times (
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	position INTEGER NOT NULL, 
	library VARCHAR(40) NOT NULL, 
	conditions VARCHAR(120) NOT NULL, 
	value DOUBLE NOT NULL, 
	low DOUBLE NOT NULL, 
	high DOUBLE NOT NULL, 
	problem TEXT NOT NULL, 
	versions JSON NOT NULL, 
	cases JSON NOT NULL, 
	holds_for VARCHAR(64) NOT NULL, 
	measured_at DATETIME NOT NULL, 
	CONSTRAINT pk_library_times PRIMARY KEY (challenge, device_key, pack_major, name)
);
CREATE TABLE line_comments (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	line INTEGER NOT NULL, 
	author_id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	changed_at DATETIME, 
	unread_by INTEGER, 
	CONSTRAINT pk_line_comments PRIMARY KEY (id), 
	CONSTRAINT fk_line_comments_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_line_comments_author_id_users FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_line_comments_unread_by_users FOREIGN KEY(unread_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE TABLE lti_courses (
	id INTEGER NOT NULL, 
	platform_id INTEGER NOT NULL, 
	deployment_id VARCHAR(255) NOT NULL, 
	context_id VARCHAR(255) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	class_id INTEGER NOT NULL, 
	members_url VARCHAR(1000), 
	line_items_url VARCHAR(1000), 
	scopes TEXT NOT NULL, 
	roster_due_at DATETIME, 
	roster_attempts INTEGER DEFAULT '0' NOT NULL, 
	roster_read_at DATETIME, 
	roster_outcome VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_lti_courses PRIMARY KEY (id), 
	CONSTRAINT fk_lti_courses_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_courses_platform_id_lti_platforms FOREIGN KEY(platform_id) REFERENCES lti_platforms (id) ON DELETE CASCADE, 
	CONSTRAINT uq_lti_courses_class_id UNIQUE (class_id), 
	CONSTRAINT uq_lti_courses_platform_id_deployment_id_context_id UNIQUE (platform_id, deployment_id, context_id)
);
CREATE TABLE lti_launches (
	id INTEGER NOT NULL, 
	platform_id INTEGER NOT NULL, 
	state_hash VARCHAR(64) NOT NULL, 
	nonce_hash VARCHAR(64) NOT NULL, 
	ticket_hash VARCHAR(64), 
	message TEXT, 
	user_id INTEGER, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_lti_launches PRIMARY KEY (id), 
	CONSTRAINT fk_lti_launches_platform_id_lti_platforms FOREIGN KEY(platform_id) REFERENCES lti_platforms (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_launches_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_lti_launches_state_hash UNIQUE (state_hash), 
	CONSTRAINT uq_lti_launches_ticket_hash UNIQUE (ticket_hash)
);
CREATE TABLE lti_links (
	assignment_id INTEGER NOT NULL, 
	course_id INTEGER NOT NULL, 
	line_item_url VARCHAR(1000), 
	due_at DATETIME, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	outcome VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_lti_links PRIMARY KEY (assignment_id), 
	CONSTRAINT fk_lti_links_assignment_id_assignments FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_links_course_id_lti_courses FOREIGN KEY(course_id) REFERENCES lti_courses (id) ON DELETE CASCADE
);
CREATE TABLE lti_platforms (
	id INTEGER NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	issuer VARCHAR(255) NOT NULL, 
	client_id VARCHAR(255) NOT NULL, 
	deployments TEXT NOT NULL, 
	key_set_url VARCHAR(500) NOT NULL, 
	auth_login_url VARCHAR(500) NOT NULL, 
	auth_token_url VARCHAR(500) NOT NULL, 
	auth_audience VARCHAR(500) NOT NULL, 
	private_key TEXT NOT NULL, 
	makes_teachers BOOLEAN DEFAULT 0 NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_platforms PRIMARY KEY (id), 
	CONSTRAINT uq_lti_platforms_issuer_client_id UNIQUE (issuer, client_id)
);
CREATE TABLE lti_scores (
	assignment_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	points DOUBLE NOT NULL, 
	"of" DOUBLE NOT NULL, 
	sent_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_scores PRIMARY KEY (assignment_id, user_id), 
	CONSTRAINT fk_lti_scores_assignment_id_lti_links FOREIGN KEY(assignment_id) REFERENCES lti_links (assignment_id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_scores_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE measurements (
	submission_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	metric VARCHAR(32) NOT NULL, 
	value DOUBLE NOT NULL, 
	runs INTEGER NOT NULL, 
	spread DOUBLE NOT NULL, 
	median_s DOUBLE, 
	gb_per_s DOUBLE, 
	gflop_per_s DOUBLE, 
	low DOUBLE, 
	high DOUBLE, 
	roofline_share DOUBLE, 
	fingerprint JSON, 
	created_at DATETIME NOT NULL, 
	audited_at DATETIME, 
	not_audited TEXT, 
	after_giving_up BOOLEAN DEFAULT 0 NOT NULL, 
	frozen BOOLEAN DEFAULT 0 NOT NULL, 
	card VARCHAR(64), 
	CONSTRAINT pk_measurements PRIMARY KEY (submission_id), 
	CONSTRAINT fk_measurements_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_measurements_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE notices (
	id INTEGER NOT NULL, 
	text VARCHAR(500) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	starts_at DATETIME NOT NULL, 
	ends_at DATETIME, 
	CONSTRAINT pk_notices PRIMARY KEY (id)
);
CREATE TABLE one_time_links (
	id INTEGER NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	user_id INTEGER, 
	email VARCHAR(254), 
	text_hash VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_one_time_links PRIMARY KEY (id), 
	CONSTRAINT fk_one_time_links_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_one_time_links_text_hash UNIQUE (text_hash)
);
CREATE TABLE operator_actions (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	user_id INTEGER, 
	actor VARCHAR(100) NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	action VARCHAR(40) NOT NULL, 
	target VARCHAR(200) NOT NULL, 
	details JSON NOT NULL, 
	CONSTRAINT pk_operator_actions PRIMARY KEY (id), 
	CONSTRAINT fk_operator_actions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE TABLE pack_versions (
	id INTEGER NOT NULL, 
	slug VARCHAR(100) NOT NULL, 
	version VARCHAR(40) NOT NULL, 
	major INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	recorded_at DATETIME NOT NULL, 
	contents BLOB, 
	CONSTRAINT pk_pack_versions PRIMARY KEY (id), 
	CONSTRAINT uq_pack_versions_slug_version_digest UNIQUE (slug, version, digest)
);
CREATE TABLE private_packs (
	id INTEGER NOT NULL, 
	slug VARCHAR(100) NOT NULL, 
	class_id INTEGER, 
	contest_id INTEGER, 
	upload BLOB, 
	waits BOOLEAN NOT NULL, 
	uploaded_at DATETIME NOT NULL, 
	lease_token VARCHAR(64), 
	lease_until DATETIME, 
	losses INTEGER NOT NULL, 
	verified_at DATETIME, 
	accepted BOOLEAN, 
	findings JSON, 
	title TEXT, 
	version VARCHAR(40), 
	digest VARCHAR(64), 
	contents BLOB, 
	contents_sha256 VARCHAR(64), 
	progress VARCHAR(200), 
	CONSTRAINT pk_private_packs PRIMARY KEY (id), 
	CONSTRAINT ck_private_packs_one_owner CHECK ((class_id IS NULL) <> (contest_id IS NULL)), 
	CONSTRAINT fk_private_packs_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE, 
	CONSTRAINT fk_private_packs_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE, 
	CONSTRAINT uq_private_packs_slug UNIQUE (slug)
);
CREATE TABLE profile_requests (
	submission_id INTEGER NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	asked_at DATETIME NOT NULL, 
	failures INTEGER NOT NULL, 
	lease_token VARCHAR(32), 
	lease_until DATETIME, 
	ended_at DATETIME, 
	problem TEXT, 
	result JSON, 
	report BLOB, 
	CONSTRAINT pk_profile_requests PRIMARY KEY (submission_id), 
	CONSTRAINT fk_profile_requests_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE
);
CREATE TABLE reached_goals (
	submission_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	goal VARCHAR(100) NOT NULL, 
	reached_at DATETIME NOT NULL, 
	CONSTRAINT pk_reached_goals PRIMARY KEY (submission_id), 
	CONSTRAINT fk_reached_goals_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_reached_goals_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE rechecks (
	"key" VARCHAR(64) NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	pack_digest VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	asked_at DATETIME NOT NULL, 
	available_at DATETIME NOT NULL, 
	failures INTEGER NOT NULL, 
	losses INTEGER NOT NULL, 
	last_error TEXT, 
	lease_token VARCHAR(32), 
	lease_owner VARCHAR(200), 
	lease_until DATETIME, 
	ended_at DATETIME, 
	outcome VARCHAR(16), 
	headline TEXT, 
	result JSON, 
	CONSTRAINT pk_rechecks PRIMARY KEY ("key")
);
CREATE TABLE recovery_codes (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	code_hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_recovery_codes PRIMARY KEY (id), 
	CONSTRAINT fk_recovery_codes_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE roster_entries (
	class_id INTEGER NOT NULL, 
	email_key VARCHAR(254) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	sis_id VARCHAR(100) NOT NULL, 
	section VARCHAR(100) NOT NULL, 
	lms_id VARCHAR(255) NOT NULL, 
	user_id INTEGER, 
	left_at DATETIME, 
	CONSTRAINT pk_roster_entries PRIMARY KEY (class_id, email_key), 
	CONSTRAINT fk_roster_entries_class_id_classes FOREIGN KEY(class_id) REFERENCES classes (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roster_entries_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE TABLE solution_likes (
	submission_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_solution_likes PRIMARY KEY (submission_id, user_id), 
	CONSTRAINT fk_solution_likes_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id) ON DELETE CASCADE, 
	CONSTRAINT fk_solution_likes_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE submissions (
	id INTEGER NOT NULL, 
	public_id VARCHAR(16) NOT NULL, 
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	pack_version VARCHAR(40) NOT NULL, 
	pack_major INTEGER NOT NULL, 
	pack_digest VARCHAR(64) NOT NULL, 
	device_key VARCHAR(100) NOT NULL, 
	mode VARCHAR(16) NOT NULL, 
	language VARCHAR(32) DEFAULT 'cuda' NOT NULL, 
	source_bytes BLOB NOT NULL, 
	seed BIGINT NOT NULL, 
	idempotency_key VARCHAR(200), 
	state VARCHAR(16) NOT NULL, 
	verdict VARCHAR(4), 
	judgement JSON, 
	custom_input JSON, 
	share_token VARCHAR(32), 
	published_at DATETIME, 
	after_giving_up BOOLEAN DEFAULT 0 NOT NULL, 
	frozen BOOLEAN DEFAULT 0 NOT NULL, 
	off_board VARCHAR(300), 
	recheck_key VARCHAR(64), 
	last_event_seq INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_submissions PRIMARY KEY (id), 
	CONSTRAINT fk_submissions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_submissions_public_id UNIQUE (public_id), 
	CONSTRAINT uq_submissions_share_token UNIQUE (share_token), 
	CONSTRAINT uq_submissions_user_id_idempotency_key UNIQUE (user_id, idempotency_key)
);
CREATE TABLE user_progress (
	user_id INTEGER NOT NULL, 
	challenge VARCHAR(100) NOT NULL, 
	judged INTEGER NOT NULL, 
	accepted INTEGER NOT NULL, 
	solved_at DATETIME, 
	CONSTRAINT pk_user_progress PRIMARY KEY (user_id, challenge), 
	CONSTRAINT fk_user_progress_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE users (
	id INTEGER NOT NULL, 
	username VARCHAR(64) NOT NULL, 
	username_key VARCHAR(64) NOT NULL, 
	name_skeleton VARCHAR(64), 
	password_hash VARCHAR(255), 
	email VARCHAR(254), 
	email_key VARCHAR(254), 
	totp_secret VARCHAR(64), 
	totp_last_step INTEGER, 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	suspended_at DATETIME, 
	suspension VARCHAR(300), 
	role VARCHAR(16) DEFAULT 'user' NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT uq_users_email_key UNIQUE (email_key), 
	CONSTRAINT uq_users_name_skeleton UNIQUE (name_skeleton), 
	CONSTRAINT uq_users_username_key UNIQUE (username_key)
);
CREATE TABLE verdict_totals (
	verdict VARCHAR(4) NOT NULL, 
	judged INTEGER NOT NULL, 
	CONSTRAINT pk_verdict_totals PRIMARY KEY (verdict)
);
CREATE TABLE web_sessions (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	key_hash VARCHAR(64) NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	user_agent VARCHAR(300) NOT NULL, 
	created_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_web_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_web_sessions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_web_sessions_key_hash UNIQUE (key_hash)
);
CREATE TABLE webhook_messages (
	id INTEGER NOT NULL, 
	contest_id INTEGER NOT NULL, 
	event VARCHAR(16) NOT NULL, 
	subject VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	attempts INTEGER NOT NULL, 
	due_at DATETIME, 
	outcome VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_webhook_messages PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_messages_contest_id_contests FOREIGN KEY(contest_id) REFERENCES contests (id) ON DELETE CASCADE, 
	CONSTRAINT uq_webhook_messages_contest_id_event_subject UNIQUE (contest_id, event, subject)
);
CREATE INDEX ix_api_tokens_user_id ON api_tokens (user_id);
CREATE INDEX ix_artifacts_last_built_at ON artifacts (last_built_at);
CREATE INDEX ix_assembly_requests_ended_at_asked_at ON assembly_requests (ended_at, asked_at);
CREATE INDEX ix_assignment_extensions_user_id ON assignment_extensions (user_id);
CREATE INDEX ix_assignments_class_id ON assignments (class_id);
CREATE INDEX ix_best_results_board ON best_results (challenge, device_key, pack_major, metric, value, submission_id, user_id, low, high);
CREATE INDEX ix_best_results_high ON best_results (challenge, device_key, pack_major, metric, high);
CREATE INDEX ix_best_results_low ON best_results (challenge, device_key, pack_major, metric, low, value, submission_id, high);
CREATE INDEX ix_best_results_submission_id ON best_results (submission_id);
CREATE INDEX ix_best_results_user_id ON best_results (user_id);
CREATE INDEX ix_builds_artifact_digest ON builds (artifact_digest);
CREATE INDEX ix_builds_built_at ON builds (built_at);
CREATE INDEX ix_class_members_user_id ON class_members (user_id);
CREATE INDEX ix_class_staff_user_id ON class_staff (user_id);
CREATE INDEX ix_classes_owner_id ON classes (owner_id);
CREATE INDEX ix_contest_audits_submission_id ON contest_audits (submission_id);
CREATE INDEX ix_contest_members_team_id ON contest_members (team_id);
CREATE INDEX ix_contest_members_user_id ON contest_members (user_id);
CREATE INDEX ix_contests_ends_at ON contests (ends_at);
CREATE INDEX ix_draft_assemblies_ended_at_asked_at ON draft_assemblies (ended_at, asked_at);
CREATE INDEX ix_identities_user_id ON identities (user_id);
CREATE INDEX ix_jobs_artifact_digest ON jobs (artifact_digest);
CREATE INDEX ix_jobs_lease_until ON jobs (lease_until);
CREATE INDEX ix_jobs_state_device_key_turn ON jobs (state, device_key, turn);
CREATE INDEX ix_jobs_state_turn ON jobs (state, turn);
CREATE INDEX ix_jobs_user_id_state ON jobs (user_id, state);
CREATE INDEX ix_line_comments_author_id ON line_comments (author_id);
CREATE INDEX ix_line_comments_submission_id ON line_comments (submission_id);
CREATE INDEX ix_line_comments_unread_by ON line_comments (unread_by);
CREATE INDEX ix_lti_courses_roster_due_at ON lti_courses (roster_due_at);
CREATE INDEX ix_lti_launches_expires_at ON lti_launches (expires_at);
CREATE INDEX ix_lti_launches_platform_id ON lti_launches (platform_id);
CREATE INDEX ix_lti_launches_user_id ON lti_launches (user_id);
CREATE INDEX ix_lti_links_course_id ON lti_links (course_id);
CREATE INDEX ix_lti_links_due_at ON lti_links (due_at);
CREATE INDEX ix_lti_scores_user_id ON lti_scores (user_id);
CREATE INDEX ix_measurements_after_giving_up ON measurements (challenge, device_key, pack_major, metric, value) WHERE after_giving_up = 1;
CREATE INDEX ix_measurements_board ON measurements (challenge, device_key, pack_major, metric, user_id, value, submission_id);
CREATE INDEX ix_measurements_user ON measurements (user_id, challenge, submission_id, device_key, pack_major, metric);
CREATE INDEX ix_one_time_links_user_id ON one_time_links (user_id);
CREATE INDEX ix_operator_actions_target ON operator_actions (target);
CREATE INDEX ix_private_packs_class_id ON private_packs (class_id);
CREATE INDEX ix_private_packs_contest_id ON private_packs (contest_id);
CREATE INDEX ix_profile_requests_device_key_ended_at_asked_at ON profile_requests (device_key, ended_at, asked_at);
CREATE INDEX ix_reached_goals_user_id_challenge ON reached_goals (user_id, challenge);
CREATE INDEX ix_rechecks_ended_at_asked_at ON rechecks (ended_at, asked_at);
CREATE INDEX ix_recovery_codes_user_id ON recovery_codes (user_id);
CREATE INDEX ix_roster_entries_email_key ON roster_entries (email_key);
CREATE INDEX ix_roster_entries_user_id ON roster_entries (user_id);
CREATE INDEX ix_solution_likes_user_id ON solution_likes (user_id);
CREATE INDEX ix_submissions_challenge_created_at ON submissions (challenge, created_at);
CREATE INDEX ix_submissions_frozen ON submissions (user_id, challenge, device_key, pack_major, created_at) WHERE frozen = 1;
CREATE INDEX ix_submissions_published ON submissions (challenge) WHERE published_at IS NOT NULL;
CREATE INDEX ix_submissions_published_by ON submissions (user_id, verdict, challenge) WHERE published_at IS NOT NULL;
CREATE INDEX ix_submissions_recheck_key ON submissions (recheck_key) WHERE recheck_key IS NOT NULL;
CREATE INDEX ix_submissions_tries ON submissions (user_id, challenge, device_key, pack_major, mode);
CREATE INDEX ix_submissions_user_id_challenge_id ON submissions (user_id, challenge, id);
CREATE INDEX ix_submissions_user_id_created_at ON submissions (user_id, created_at, mode);
CREATE INDEX ix_submissions_user_id_id ON submissions (user_id, id);
CREATE INDEX ix_submissions_verdict ON submissions (verdict);
CREATE INDEX ix_web_sessions_user_id ON web_sessions (user_id);
CREATE INDEX ix_webhook_messages_due_at ON webhook_messages (due_at);
