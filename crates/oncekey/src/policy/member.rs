//! How a member of the policy is described.

use crate::policy::{syntax::TextSyntax, value::PolicyValue};

/// An object of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectShape {
    /// The whole.
    Policy,
    /// What is protected in one way.
    Route,
    /// How the origin is asked what became of a request.
    Probe,
    /// How many new keys a caller may have.
    Limits,
    /// What counts them.
    Limit,
    /// A queue whose messages are delivered once each.
    Queue,
    /// The states of one kind of entity.
    Machine,
    /// A change of an entity's state.
    Transition,
    /// How one kind of token is found, and judged.
    Identity,
    /// Who is told of unknown fates.
    OnUnknown,
}

/// What a member may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// True or false.
    Flag,
    /// A whole number of bytes or seconds within bounds, both included.
    Number {
        /// What is counted.
        unit: NumberUnit,
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A number from 0 to 1, both included: a share of all.
    Share,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or an object.
    WordOr {
        /// The words.
        words: &'static [&'static str],
        /// The object.
        object: ObjectShape,
        /// One such object, for whoever wrote neither.
        example: &'static str,
    },
    /// A text.
    Text(TextSyntax),
    /// A text, or a list of such texts that is not empty.
    TextOrTexts(TextSyntax),
    /// A list of such values.
    List {
        /// What each is.
        of: &'static ValueKind,
        /// Where it may not be empty: what was expected instead.
        filled: Option<&'static str>,
    },
    /// An object.
    Object(ObjectShape),
    /// Any number of objects, each under a name of the operator's: [`TextSyntax::Segment`].
    Named(ObjectShape),
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberUnit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Items of a batch.
    Items,
}

/// What counts where a member is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(u32),
    /// A text or word.
    Text(&'static str),
    /// A list.
    List(&'static [Preset]),
    /// The object without members, which have defaults of their own.
    Object,
}

/// A member that has a meaning only beside a word of another one of the same object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnlyWith {
    /// The other member, which stands before this one in the table and has a default.
    pub member: &'static str,
    /// The word.
    pub word: &'static str,
}

/// All that is known of a member: a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRow {
    /// As the policy writes it.
    pub name: &'static str,
    /// What it may be.
    pub kind: ValueKind,
    /// What counts where it is not given; `None`: nothing does.
    pub preset: Option<Preset>,
    /// Whether it has to be given, where it applies.
    pub needed: bool,
    /// Beside which word it has to be given, although it has a default elsewhere.
    pub needed_with: Option<OnlyWith>,
    /// Where it applies; `None`: everywhere.
    pub only: Option<OnlyWith>,
    /// Whether it is shown to everyone, where its object is.
    pub published: bool,
    /// What it is: a clause in Markdown, which for a number goes on after its unit.
    pub about: &'static str,
    /// The first version that has it.
    pub since: &'static str,
}

/// What the gate itself has to know of a member. The sentences stay out of its wasm.
#[derive(Clone, Copy)]
pub(super) struct MemberRule {
    pub(super) name: &'static str,
    pub(super) kind: ValueKind,
    pub(super) preset: Option<Preset>,
    pub(super) needed: bool,
    pub(super) needed_with: Option<OnlyWith>,
    pub(super) only: Option<OnlyWith>,
    pub(super) published: bool,
}

impl ValueKind {
    /// A whole number of seconds, from `least` to `most`.
    pub const fn seconds(least: u32, most: u32) -> Self {
        Self::Number { unit: NumberUnit::Seconds, least, most }
    }
}

impl Preset {
    pub(super) fn value(self) -> PolicyValue {
        match self {
            Preset::Flag(value) => PolicyValue::Flag(value),
            Preset::Number(number) => PolicyValue::Whole(number.into()),
            Preset::Text(text) => text.into(),
            Preset::List(list) => PolicyValue::List(list.iter().map(|preset| preset.value()).collect()),
            Preset::Object => PolicyValue::Object(Vec::new()),
        }
    }
}

impl MemberRow {
    /// A row that says nothing yet.
    pub(super) const BLANK: MemberRow = MemberRow {
        name: "",
        kind: ValueKind::Flag,
        preset: None,
        needed: false,
        needed_with: None,
        only: None,
        published: true,
        about: "",
        since: "0.1",
    };

    const fn rule(&self) -> MemberRule {
        let MemberRow { name, kind, preset, needed, needed_with, only, published, .. } = *self;
        MemberRule { name, kind, preset, needed, needed_with, only, published }
    }
}

/// The rules of an object's members, made by the compiler.
#[expect(clippy::indexing_slicing, reason = "the compiler runs it: what is out of bounds does not compile")]
pub(super) const fn rules_of<const N: usize>(rows: &[MemberRow]) -> [MemberRule; N] {
    let mut rules = [MemberRow::BLANK.rule(); N];
    let mut at = 0;
    while at < N {
        rules[at] = rows[at].rule();
        at += 1;
    }
    rules
}

impl MemberRule {
    /// Whether it has a meaning in an object with these members.
    pub(super) fn applies_in(&self, object: &PolicyValue, rules: &[MemberRule]) -> bool {
        self.only.is_none_or(|only| only.holds_in(object, rules))
    }

    /// Whether it has to be given in such an object.
    pub(super) fn is_needed_in(&self, object: &PolicyValue, rules: &[MemberRule]) -> bool {
        self.needed || self.needed_with.is_some_and(|with| with.holds_in(object, rules))
    }
}

impl OnlyWith {
    fn holds_in(self, object: &PolicyValue, rules: &[MemberRule]) -> bool {
        let OnlyWith { member, word } = self;
        if let Some(given) = object.member(member) {
            return given.text() == word;
        }
        rules.iter().any(|rule| rule.name == member && matches!(rule.preset, Some(Preset::Text(text)) if text == word))
    }
}
