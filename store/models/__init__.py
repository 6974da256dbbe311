"""The tables, by topic. Import them from here: whoever imports one then knows them all, as migrations must."""

from store.models.administration import EarlierJudgement, OperatorAction
from store.models.base import FINAL_STATES, Base, State
from store.models.boards import Audit, AuditJob, CardTime, LibraryTime, Measurement
from store.models.catalog import Device, DeviceBoard, DeviceCalibration, PackVersion
from store.models.classes import (
    Assignment,
    AssignmentChallenge,
    Class,
    ClassMember,
    ClassStaff,
    Counts,
    Extension,
    RosterEntry,
    StaffRole,
)
from store.models.comments import LineComment
from store.models.contests import Contest, ContestAudit, ContestChallenge, ContestMember, ContestTeam, Scoring
from store.models.duties import Duty
from store.models.lti import LtiCourse, LtiLaunch, LtiLink, LtiPlatform, LtiScore
from store.models.private_packs import PrivatePack
from store.models.profiles import ProfileRequest
from store.models.rechecks import RecheckRequest
from store.models.site import ChangedSetting, Notice
from store.models.solutions import GivenUp, SolutionLike
from store.models.submissions import Artifact, AssemblyRequest, Build, Draft, DraftAssembly, Event, Job, Submission
from store.models.totals import BestResult, BoardTotals, ChallengeTotals, UserProgress, VerdictTotals
from store.models.tracks import ReachedGoal
from store.models.users import ApiToken, Identity, OneTimeLink, RecoveryCode, Role, User, WebSession
from store.models.webhooks import WebhookMessage

__all__ = [
    "FINAL_STATES",
    "ApiToken",
    "Artifact",
    "AssemblyRequest",
    "Assignment",
    "AssignmentChallenge",
    "Audit",
    "AuditJob",
    "Base",
    "BestResult",
    "BoardTotals",
    "Build",
    "CardTime",
    "ChallengeTotals",
    "ChangedSetting",
    "Class",
    "ClassMember",
    "ClassStaff",
    "Contest",
    "ContestAudit",
    "ContestChallenge",
    "ContestMember",
    "ContestTeam",
    "Counts",
    "Device",
    "DeviceBoard",
    "DeviceCalibration",
    "Draft",
    "DraftAssembly",
    "Duty",
    "EarlierJudgement",
    "Event",
    "Extension",
    "GivenUp",
    "Identity",
    "Job",
    "LibraryTime",
    "LineComment",
    "LtiCourse",
    "LtiLaunch",
    "LtiLink",
    "LtiPlatform",
    "LtiScore",
    "Measurement",
    "Notice",
    "OneTimeLink",
    "OperatorAction",
    "PackVersion",
    "PrivatePack",
    "ProfileRequest",
    "ReachedGoal",
    "RecheckRequest",
    "RecoveryCode",
    "Role",
    "RosterEntry",
    "Scoring",
    "SolutionLike",
    "StaffRole",
    "State",
    "Submission",
    "User",
    "UserProgress",
    "VerdictTotals",
    "WebSession",
    "WebhookMessage",
]
